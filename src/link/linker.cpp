#include "link/linker.hpp"

#include <cstdio>

#include "bitale/core/config.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "codegen/generate.hpp"

namespace bitale::link {

namespace {

struct Entry {
  std::string_view name;
  std::unique_ptr<Thunk> (*link)(const LinkedGraph& graph);
};
// In the order in which one stands in for another that lacks what it needs.
constexpr Entry linkers[] = {{"jit", link_jit}, {"vm", link_vm}};

// Linkers hand an op the arrays that others read too: an op that writes into its inputs would change them unseen.
void refuse_destructive(const FunctionGraph& graph) {
  for (auto& node : graph.toposort())
    for (std::size_t k = 0; k < node.output_count(); ++k)
      if (!node.op().destroys(node, int(k)).empty())
        throw NotImplementedError(
            cat(node.op().label(), " destroys its inputs; in-place operations are not supported yet"));
}

}  // namespace

std::vector<Array> Thunk::run(std::span<const Array> inputs) const {
  std::vector<View> views;
  for (auto& input : inputs) views.push_back(view_of(input));
  ArrayReceiver results(0);
  run(views, results);
  return std::move(results).take();
}

std::vector<std::string> linker_names() {
  std::vector<std::string> names;
  for (auto& entry : linkers) names.emplace_back(entry.name);
  return names;
}

std::unique_ptr<Thunk> link(std::string_view linker, const LinkedGraph& graph) {
  for (const Entry* entry = std::begin(linkers); entry != std::end(linkers); ++entry) {
    if (entry->name != linker) continue;
    refuse_destructive(*graph);
    for (;; ++entry) try {
        return entry->link(graph);
      } catch (const codegen::MissingGenerator& error) {
        if (entry + 1 == std::end(linkers) || !config::get_bool("linker_fallback")) throw;
        std::fprintf(stderr, "bitale: warning: linker %s is used: %s\n", std::string(entry[1].name).c_str(),
                     error.what());
      }
  }
  const auto names = linker_names();
  const std::string near = closest(linker, names);
  throw ValueError(cat("there is no linker `", linker, "`; linkers are ", join(names, ", "),
                       near.empty() ? "" : cat("; did you mean `", near, "`?")));
}

}  // namespace bitale::link
