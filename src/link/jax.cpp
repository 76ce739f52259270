// Linker `jax`: the graph as a StableHLO module per combination of input lengths, made and compiled at the first call
// that has them, and run by whoever compiles modules.
#include <atomic>
#include <chrono>
#include <cstring>
#include <map>
#include <mutex>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/link/module_compiler.hpp"
#include "core/stopwatch.hpp"
#include "link/branches.hpp"
#include "link/explain_failure.hpp"
#include "link/linker.hpp"
#include "link/measured.hpp"
#include "stablehlo/module.hpp"

namespace bitale {

namespace {

std::atomic<const ModuleCompiler*> module_compiler{nullptr};

}  // namespace

void set_module_compiler(const ModuleCompiler* compiler) { module_compiler = compiler; }
bool has_module_compiler() { return module_compiler != nullptr; }

namespace link {

namespace {

using Lengths = std::vector<std::int64_t>;  // of all inputs, one after the other

struct Variant {
  stablehlo::Module module;
  std::shared_ptr<const CompiledModule> compiled;
  double written = 0, made = 0;  // seconds
  std::atomic<std::int64_t> calls{0}, nanoseconds{0};
};

using Clock = std::chrono::steady_clock;

class JaxThunk final : public Thunk {
 public:
  JaxThunk(LinkedGraph graph, const ModuleCompiler& compiler) : graph_(std::move(graph)), compiler_(compiler) {}

  using Thunk::run;
  void run(std::span<const View> inputs, Receiver& results) const override {
    results.begin(inputs, true);
    std::vector<Array> arrays;
    std::vector<Dims> shapes;
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      arrays.push_back(input_of(int(k), inputs[k], results));
      const Resident* resident = resident_in(arrays.back());
      shapes.push_back(resident ? resident->shape() : arrays.back().shape());
    }
    const auto variant = variant_for(shapes);
    const std::size_t count = variant->module.results.size();
    std::vector<bool> stay(count + !variant->module.checks.empty());
    for (std::size_t k = 0; k < count; ++k) stay[k] = results.may_stay(int(k));
    const auto start = Clock::now();
    std::vector<Array> made = variant->compiled->run(arrays, stay);
    variant->nanoseconds += std::int64_t(1e9 * seconds_since(start));
    variant->calls += 1;
    if (!variant->module.checks.empty()) {
      const bool* outcome = made.back().data_as<bool>();
      for (std::size_t k = 0; k < variant->module.checks.size(); ++k)
        if (!outcome[k]) explain(variant->module.checks[k], arrays);
      made.pop_back();
    }
    for (std::size_t k = 0; k < made.size(); ++k) {
      if (stay[k]) {
        results.receive(int(k), std::move(made[k]));
        continue;
      }
      void* const place = results.place(int(k), made[k].dtype(), made[k].shape());
      if (made[k].nbytes()) std::memcpy(place, made[k].data(), std::size_t(made[k].nbytes()));
    }
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
  // What is on the device already, or goes there to stay, or lies where the caller has it.
  Array input_of(int k, const View& view, Receiver& results) const {
    const Array* behind = results.behind(k);
    if (!behind) {
      const TensorType& type = graph_->inputs()[std::size_t(k)].storage();
      return borrow(view, type.dtype, type.ndim()).contiguous();
    }
    if (resident_in(*behind)) return *behind;
    const Array on_device = compiler_.to_device(behind->contiguous());
    results.keep_input(k, on_device);
    return on_device;
  }

  // By the interpreter, which needs what is on the device.
  [[noreturn]] void explain(const stablehlo::Module::Check& check, std::vector<Array>& arrays) const {
    std::vector<View> views;
    for (auto& array : arrays) {
      if (const Resident* resident = resident_in(array)) array = resident->fetch();
      views.push_back(view_of(array));
    }
    explain_failure(graph_, {check.node, check.message}, views);
  }

  // Modules of one function are compiled one after the other; of the same lengths, the second caller finds the first's.
  std::shared_ptr<Variant> variant_for(std::span<const Dims> shapes) const {
    Lengths lengths;
    for (auto& shape : shapes) lengths.insert(lengths.end(), shape.begin(), shape.end());
    const std::lock_guard lock(mutex_);
    auto& variant = variants_[lengths];
    if (variant) return variant;
    auto made = std::make_shared<Variant>();
    auto start = Clock::now();
    made->module = stablehlo::write_module(*graph_, shapes, {.platform = compiler_.platform()});
    made->written = seconds_since(start);
    start = Clock::now();
    made->compiled = compiler_.compile(made->module.text);
    made->made = seconds_since(start);
    variant = std::move(made);
    return variant;
  }

  const LinkedGraph graph_;
  const ModuleCompiler& compiler_;
  mutable std::mutex mutex_;
  mutable std::map<Lengths, std::shared_ptr<Variant>> variants_;
};

}  // namespace

LinkedGraph graph_for_module(const LinkedGraph& graph) {
  return outline_branches(graph,
                          [](const LinkedGraph&) -> std::unique_ptr<Thunk> {
                            throw NotImplementedError(
                                "StableHLO: an ifelse whose sides have different lengths, or can't be part of native "
                                "code, has no form there; switch computes both sides");
                          })
      .graph;
}

std::unique_ptr<Thunk> link_jax(const LinkedGraph& graph, const LinkOptions&) {
  const ModuleCompiler* const compiler = module_compiler;
  if (!compiler)
    throw NotImplementedError(
        "linker jax needs a compiler of StableHLO modules, which Bitale's Python package has where JAX is installed "
        "(pip install jax)");
  for (auto& variables : {graph->inputs(), graph->outputs()})
    for (auto& variable : variables)
      if (variable.type()->is_host_only())
        throw NotImplementedError(cat("linker jax: `", variable.str(), "` of type ", variable.type()->str(),
                                      " is an object of the host, which XLA can't be given"));
  return std::make_unique<JaxThunk>(graph_for_module(graph), *compiler);
}

}  // namespace link

}  // namespace bitale
