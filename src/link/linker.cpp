#include "link/linker.hpp"

#include <cstdio>
#include <iterator>

#include "bitale/core/config.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/link/module_compiler.hpp"
#include "codegen/generate.hpp"
#include "core/config_table.hpp"
#include "link/measured.hpp"

namespace bitale {

namespace {

using link::LinkedGraph;
using link::LinkOptions;
using link::Thunk;

struct Entry {
  std::string_view name;
  std::string_view instead;  // the linker to fall back to where a requirement is missing, or ""
  std::unique_ptr<Thunk> (*link)(const LinkedGraph& graph, const LinkOptions& options);  // null: node by node
  std::vector<std::string> node_linkers;
  NodeWrapper (*wrapper)() = nullptr;
};

const std::vector<Entry>& linkers() {
  static const std::vector<Entry> table = {
      {"jit", "vm", link::link_jit, {}},
      {"tiered", "vm", link::link_tiered, {}},
      {"c", "jit", link::link_c, {}},
      {"jax", "", link::link_jax, {}},
      {"opwise", "vm", nullptr, {"opwise"}},
      {"vm", "", nullptr, {"vm"}},
      {"dual", "vm", nullptr, {"vm", "jit"}, [] { return link::compare_linkers({}); }},
      {"wrap", "", nullptr, {"vm"}},
  };
  return table;
}

constexpr std::pair<std::string_view, std::string_view> other_names[] = {
    {"", "jit"}, {"auto", "jit"}, {"c|py", "opwise"}, {"cvm", "opwise"}, {"py", "vm"}};
constexpr std::string_view without_gc = "_nogc";  // a suffix of names, of which PyTensor lists these
constexpr std::string_view names_without_gc[] = {"c|py_nogc", "cvm_nogc", "vm_nogc"};

const Entry& entry_of(std::string_view linker) {
  for (auto& [other, name] : other_names)
    if (linker == other) linker = name;
  for (auto& entry : linkers())
    if (entry.name == linker) return entry;
  const auto names = linker_names();
  const std::string near = closest(linker, names);
  throw ValueError(cat("there is no linker `", linker, "`; linkers are ", join(names, ", "),
                       near.empty() ? "" : cat("; did you mean `", near, "`?")));
}

}  // namespace

std::vector<std::string> linker_names() {
  std::vector<std::string> names;
  for (auto& entry : linkers())
    if (entry.link != link::link_jax || has_module_compiler()) names.emplace_back(entry.name);
  return names;
}

std::vector<std::string> other_linker_names() {
  std::vector<std::string> names;
  for (auto& [other, name] : other_names)
    if (!other.empty()) names.emplace_back(other);
  names.insert(names.end(), std::begin(names_without_gc), std::end(names_without_gc));
  return names;
}

namespace {

// All names that mean something without further arguments, whether or not their requirements are met.
std::vector<std::string> choices() {
  std::vector<std::string> names = other_linker_names();
  for (auto& entry : linkers())
    if (entry.name != "wrap") names.emplace_back(entry.name);
  return names;
}
const config::RegisterChoices register_linker_choices("linker", choices);

}  // namespace

Linker::Linker(std::string_view given) {
  if (given.ends_with(without_gc)) {
    given.remove_suffix(without_gc.size());
    allow_gc = false;
  }
  const Entry& entry = entry_of(given);
  name = entry.name;
  node_linkers = entry.node_linkers;
  if (entry.wrapper) wrapper = entry.wrapper();
}

Linker wrap_linker(std::vector<std::string> node_linkers, NodeWrapper wrapper) {
  Linker linker("wrap");
  if (node_linkers.empty()) throw ValueError("wrap_linker: expected at least one linker to run the nodes");
  linker.node_linkers.clear();
  for (auto& each : node_linkers) linker.node_linkers.emplace_back(entry_of(each).name);
  linker.wrapper = std::move(wrapper);
  return linker;
}

Linker dual_linker(std::string_view first, std::string_view second, ValuesAgree agree) {
  Linker linker = wrap_linker({std::string(first), std::string(second)}, link::compare_linkers(std::move(agree)));
  linker.name = "dual";
  return linker;
}

Linker vm_linker(NodeWrapper callback, InputCallback on_input) {
  Linker linker("vm");
  if (callback)
    linker.wrapper = [callback = std::move(callback)](NodeStep& step) {
      step.run();
      callback(step);
    };
  linker.on_input = std::move(on_input);
  return linker;
}

Linker graph_linker(std::string name, GraphLinker link_graph) {
  if (!link_graph) throw ValueError("graph_linker: expected a function that makes the code of a graph");
  Linker linker("vm");
  linker.name = std::move(name);
  linker.node_linkers.clear();
  linker.link_graph = std::move(link_graph);
  return linker;
}

namespace link {

namespace {

// Forwards the requested results, and keeps the others until the call ends.
class SomeReceiver final : public Receiver {
 public:
  SomeReceiver(std::span<const int> wanted, Receiver& results) : wanted_(wanted), results_(results) {}

  void* allocate(int output, DType dtype, std::span<const std::int64_t> shape) override {
    const auto at = wanted_index(output);
    return at ? results_.allocate(*at, dtype, shape) : others_.allocate(output, dtype, shape);
  }
  void* receive(int output, Array value) override {
    const auto at = wanted_index(output);
    return at ? results_.receive(*at, std::move(value)) : others_.receive(output, std::move(value));
  }
  void begin(std::span<const View> inputs, bool is_long) override { results_.begin(inputs, is_long); }
  const Array* behind(int input) const override { return results_.behind(input); }
  void keep_input(int input, const Array& on_device) override { results_.keep_input(input, on_device); }
  bool may_stay(int output) const override {
    const auto at = wanted_index(output);
    return at && results_.may_stay(*at);
  }

 private:
  std::optional<int> wanted_index(int output) const {
    for (std::size_t k = 0; k < wanted_.size(); ++k)
      if (wanted_[k] == output) return int(k);
    return {};
  }

  const std::span<const int> wanted_;
  Receiver& results_;
  ArrayReceiver others_{0};
};

}  // namespace

void Thunk::run_some(std::span<const View> inputs, std::span<const int> wanted, Receiver& results) const {
  SomeReceiver some(wanted, results);
  run(inputs, some);
}

std::vector<Array> Thunk::run(std::span<const Array> inputs) const {
  std::vector<View> views;
  for (auto& input : inputs) views.push_back(view_of(input));
  ArrayReceiver results(0);
  run(views, results);
  return std::move(results).take();
}

Measured Thunk::measured() const { return {}; }

std::vector<std::string> required_rewrites(const Linker& linker) {
  if (linker.link_graph) return linker.required_rewrites;
  // Native code plans its memory itself, and a wrapper must be able to see what a node has read.
  const bool destroys = linker.name == "vm" && !linker.wrapper;
  return destroys ? std::vector<std::string>{"inplace"} : std::vector<std::string>();
}

std::unique_ptr<Thunk> link_vm(const LinkedGraph& graph, const LinkOptions& options) {
  return link_nodes(graph, Linker("vm"), options);
}

std::unique_ptr<Thunk> link(const Linker& linker, const LinkedGraph& graph, const LinkOptions& options) {
  if (linker.link_graph) return link_by(linker, graph, options);
  const Entry* entry = &entry_of(linker.name);
  if (entry->link && (linker.wrapper || linker.on_input))
    throw ValueError(cat("linker ", linker.name,
                         " runs the graph as one function, so that there are no nodes to call a function around; "
                         "wrap_linker({\"",
                         linker.name, "\"}, wrapper) has it run node by node"));
  for (Linker now = linker;; now = Linker(entry->name)) try {
      return entry->link ? entry->link(graph, options) : link_nodes(graph, now, options);
    } catch (const codegen::MissingGenerator& error) {
      if (entry->instead.empty() || !config::get_bool("linker_fallback")) throw;
      entry = &entry_of(entry->instead);
      std::fprintf(stderr, "bitale: warning: linker %s is used: %s\n", std::string(entry->name).c_str(), error.what());
    }
}

}  // namespace link

}  // namespace bitale
