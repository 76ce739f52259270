// Linker `jax` writes the graph as a StableHLO module for each combination of input lengths. A module is created and
// compiled at the first call that has these lengths; the registered ModuleCompiler compiles and runs it.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "bitale/core/blocking.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/link/module_compiler.hpp"
#include "core/stopwatch.hpp"
#include "link/explain_failure.hpp"
#include "link/inner_choices.hpp"
#include "link/linker.hpp"
#include "link/measured.hpp"
#include "stablehlo/module.hpp"

namespace bitale {

namespace {

std::atomic<const ModuleCompiler*> module_compiler{nullptr};

}  // namespace

void set_module_compiler(const ModuleCompiler* compiler) { module_compiler = compiler; }
bool has_module_compiler() {
  const ModuleCompiler* const compiler = module_compiler;
  return compiler && compiler->is_available();
}

namespace link {

namespace {

using Lengths = std::vector<std::int64_t>;  // of all inputs, concatenated

struct Variant {
  stablehlo::Module module;
  std::shared_ptr<const CompiledModule> compiled;
  double written = 0, made = 0;  // seconds
  std::atomic<std::int64_t> calls{0}, nanoseconds{0};
};

using Clock = std::chrono::steady_clock;

constexpr std::int64_t largest_checked_here = 1 << 16;  // elements

// Whether all elements of a C-contiguous array of integers are in least..end - 1.
bool is_within(const Array& array, std::int64_t least, std::int64_t end) {
  return visit_dtype(array.dtype(), [&]<class T>() {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      bool is_outside = false;
      for (const T each : std::span(array.data_as<T>(), std::size_t(array.size())))
        is_outside |= std::cmp_less(each, least) || std::cmp_greater_equal(each, end);
      return !is_outside;
    } else {
      return true;
    }
  });
}

// Values of shared variables whose memory a call reuses for the next values. If the call fails, they still have their
// values, or have them restored, and are given back. Otherwise their containers mark them as replaced.
class DonatedValues {
 public:
  DonatedValues() = default;
  ~DonatedValues() {
    for (auto& [result, resident] : taken_) resident->give_back();
  }
  DonatedValues(const DonatedValues&) = delete;
  DonatedValues& operator=(const DonatedValues&) = delete;

  // False if the value is held by another reader.
  bool take(const Resident& resident, std::size_t result) {
    taken_.reserve(taken_.size() + 1);
    if (!resident.take()) return false;
    taken_.emplace_back(result, &resident);
    return true;
  }
  bool is_empty() const { return taken_.empty(); }
  // After a failed check: the results that were written in their place are the values from before the call.
  void restore(std::span<const Array> results) {
    for (auto& [result, resident] : taken_) resident->become(*resident_in(results[result]));
  }
  void succeed() { taken_.clear(); }

 private:
  std::vector<std::pair<std::size_t, const Resident*>> taken_;
};

class JaxThunk final : public Thunk {
 public:
  JaxThunk(LinkedGraph graph, const ModuleCompiler& compiler, std::vector<std::pair<std::size_t, std::size_t>> updates)
      : graph_(std::move(graph)), compiler_(compiler), updates_(std::move(updates)) {
    for (auto& input : graph_->inputs()) input_types_.push_back(&input.storage());
  }

  using Thunk::run;
  void run(std::span<const View> inputs, Receiver& results) const override {
    results.begin(inputs, false);  // other threads may run while the module does
    const auto variant = variant_for(inputs, results);
    const stablehlo::Module& module = variant->module;
    std::vector<Array> arrays;
    arrays.reserve(inputs.size());
    for (std::size_t k = 0; k < inputs.size(); ++k) arrays.push_back(input_of(int(k), inputs[k], module, results));
    for (auto& range : module.range_checks) {
      const Array& array = arrays[range.input];
      const Resident* resident = resident_in(array);
      if (!(resident ? resident->is_within(range.least, range.end) : is_within(array, range.least, range.end)))
        explain(range.check, arrays);
    }
    const std::size_t count = module.results.size();
    std::vector<bool> stay(count + !module.checks.empty());
    for (std::size_t k = 0; k < count; ++k) stay[k] = results.may_stay(int(k));

    DonatedValues taken;
    std::vector<Array> given;  // the arguments, where they differ from `arrays`
    if (!module.in_place.empty()) given = donated(arrays, module, stay, taken);
    // A receiver that refuses a result does so here, before any value is lost.
    std::vector<void*> memory(count, nullptr);
    for (std::size_t k = 0; k < count && !taken.is_empty(); ++k)
      if (!stay[k]) memory[k] = results.allocate(int(k), module.results[k].dtype, module.results[k].lengths);

    const auto start = Clock::now();
    std::vector<Array> made = variant->compiled->run(given.empty() ? arrays : given, stay);
    variant->nanoseconds += std::int64_t(1e9 * seconds_since(start));
    variant->calls += 1;
    if (!module.checks.empty()) {
      const bool* outcome = made.back().data_as<bool>();
      for (std::size_t k = 0; k < module.checks.size(); ++k) {
        if (outcome[k]) continue;
        taken.restore(made);
        explain(module.checks[k], arrays);
      }
      made.pop_back();
    }
    for (std::size_t k = 0; k < made.size(); ++k) {
      if (!memory[k])
        results.receive(int(k), std::move(made[k]));
      else if (made[k].nbytes())
        std::memcpy(memory[k], made[k].data(), std::size_t(made[k].nbytes()));
    }
    taken.succeed();
  }
  bool keeps_values() const override { return true; }
  bool writes_last() const override { return true; }
  void free() const override {
    const std::lock_guard lock(mutex_);
    variants_.clear();
  }
  Measured measured() const override {
    const std::lock_guard lock(mutex_);
    Measured out;
    for (auto& [lengths, variant] : variants_) {
      std::vector<std::string> shapes;
      auto at = lengths.begin();
      for (auto& input : graph_->inputs()) {
        const auto end = at + input.storage().ndim();
        shapes.push_back(tuple_text(Dims(std::span(at, end))));
        at = end;
      }
      const double seconds = 1e-9 * double(variant->nanoseconds.load());
      out.modules.push_back({join(shapes, ", "), variant->written, variant->made, seconds, variant->calls.load()});
      out.calls += variant->calls.load();
      out.seconds += seconds;
    }
    return out;
  }
  std::string text(std::string_view stage) const override {
    if (stage != "stablehlo")
      throw ValueError(cat("linker jax has no stage `", stage, "`; its stages are graph and stablehlo"));
    const std::lock_guard lock(mutex_);
    std::string text;
    for (auto& [lengths, variant] : variants_) text += variant->module.text;
    return text.empty() ? "// no module yet: one is made at the first call, for the lengths of its inputs\n" : text;
  }

 private:
  // An Array that is already on the device, or is copied there and kept, or is the caller's memory.
  Array input_of(int k, const View& view, const stablehlo::Module& module, Receiver& results) const {
    const Array* behind = results.behind(k);
    if (!behind) {
      const TensorType& type = *input_types_[std::size_t(k)];
      return borrow(view, type.dtype, type.ndim()).contiguous();
    }
    if (resident_in(*behind)) return *behind;
    for (auto& [result, input] : module.in_place)
      if (input == std::size_t(k)) return behind->contiguous();  // the next value is kept on the device
    const Array on_device = compiler_.to_device(behind->contiguous());
    results.keep_input(k, on_device);
    return on_device;
  }

  bool is_updated(std::size_t input) const {
    return std::any_of(updates_.begin(), updates_.end(), [&](auto& update) { return update.second == input; });
  }

  // The arrays, with copies in place of those that the module may overwrite but that this call can't take exclusively.
  std::vector<Array> donated(const std::vector<Array>& arrays, const stablehlo::Module& module,
                             const std::vector<bool>& stay, DonatedValues& taken) const {
    std::vector<Array> given = arrays;
    for (auto& [result, input] : module.in_place) {
      const Resident* resident = resident_in(arrays[input]);
      if (!resident) continue;  // host memory, which is not overwritten
      const auto is_same = [&](const Array& array) { return resident_in(array) == resident; };
      const bool is_alone = std::count_if(arrays.begin(), arrays.end(), is_same) == 1;
      if (!is_alone || !stay[result] || !taken.take(*resident, result)) given[input] = compiler_.copy(arrays[input]);
    }
    return given;
  }

  // Runs the interpreter, which needs values from the device.
  [[noreturn]] void explain(const stablehlo::Module::Check& check, std::vector<Array>& arrays) const {
    std::vector<View> views;
    for (auto& array : arrays) {
      if (const Resident* resident = resident_in(array)) array = resident->fetch();
      views.push_back(view_of(array));
    }
    explain_failure(graph_, {check.node, check.message}, views);
  }

  // The modules of one function are compiled sequentially; for equal lengths the second caller finds the first one's
  // module.
  std::shared_ptr<Variant> variant_for(std::span<const View> inputs, const Receiver& results) const {
    Lengths lengths;
    for (std::size_t k = 0; k < inputs.size(); ++k)
      lengths.insert(lengths.end(), inputs[k].shape, inputs[k].shape + input_types_[k]->ndim());
    // Indices are checked here where possible, which takes less time than a result of the module; and values that stay
    // on the device from call to call only once, so that a call transfers nothing for them.
    std::vector<std::size_t> on_host;
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      if (!is_integer(input_types_[k]->dtype)) continue;
      const auto count = product(Dims(std::span(inputs[k].shape, std::size_t(input_types_[k]->ndim()))));
      if (results.behind(int(k)) ? !is_updated(k) : count <= largest_checked_here) on_host.push_back(k);
    }
    for (std::size_t k : on_host) lengths.push_back(std::int64_t(k));
    std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) while_blocked([&] { lock.lock(); });
    if (const auto known = variants_.find(lengths); known != variants_.end()) return known->second;
    std::vector<Dims> shapes;
    ModuleSource source;
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      shapes.emplace_back(std::span(inputs[k].shape, std::size_t(input_types_[k]->ndim())));
      source.inputs.push_back({input_types_[k]->dtype, shapes.back()});
    }
    auto made = std::make_shared<Variant>();
    auto start = Clock::now();
    made->module = stablehlo::write_module(*graph_, shapes,
                                           {.platform = compiler_.platform(), .updates = updates_, .on_host = on_host});
    made->written = seconds_since(start);
    source.text = made->module.text;
    for (auto& [dtype, result] : made->module.results) source.results.push_back({dtype, result});
    if (const std::size_t checks = made->module.checks.size())
      source.results.push_back({DType::Bool, {std::int64_t(checks)}});
    for (auto& [result, input] : made->module.in_place) source.donated.push_back(int(input));
    start = Clock::now();
    made->compiled = compiler_.compile(source);
    made->made = seconds_since(start);
    return variants_.emplace(std::move(lengths), std::move(made)).first->second;
  }

  const LinkedGraph graph_;
  const ModuleCompiler& compiler_;
  const std::vector<std::pair<std::size_t, std::size_t>> updates_;  // (result, input)
  std::vector<const TensorType*> input_types_;
  mutable std::mutex mutex_;
  mutable std::map<Lengths, std::shared_ptr<Variant>> variants_;
};

}  // namespace

LinkedGraph graph_for_module(const LinkedGraph& graph) {
  std::int64_t budget = branch_budget(*graph);
  const auto refuse = [](const LinkedGraph&) -> std::unique_ptr<Thunk> {
    throw NotImplementedError(
        "StableHLO: an ifelse whose sides have different lengths, can't be part of native code, or contain too many "
        "further choices, has no form there; switch computes both sides");
  };
  return outline_branches(outline_inner_choices(graph, refuse, budget).graph, refuse, budget).graph;
}

std::unique_ptr<Thunk> link_jax(const LinkedGraph& graph, const LinkOptions& options) {
  const ModuleCompiler* const compiler = module_compiler;
  if (!has_module_compiler())
    throw NotImplementedError(
        "linker jax needs a compiler of StableHLO modules, which Bitale's Python package has where JAX is installed "
        "(pip install jax)");
  for (auto& variables : {graph->inputs(), graph->outputs()})
    for (auto& variable : variables)
      if (variable.type()->is_host_only())
        throw NotImplementedError(cat("linker jax: `", variable.str(), "` of type ", variable.type()->str(),
                                      " is an object of the host, which can't be passed to XLA"));
  return std::make_unique<JaxThunk>(graph_for_module(graph), *compiler, options.updates);
}

}  // namespace link

}  // namespace bitale
