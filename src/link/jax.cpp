// Linker `jax`: the graph as a StableHLO module per combination of input lengths, made and compiled at the first call
// that has them, and run by whoever compiles modules.
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/link/module_compiler.hpp"
#include "link/branches.hpp"
#include "link/explain_failure.hpp"
#include "link/linker.hpp"
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
};

class JaxThunk final : public Thunk {
 public:
  JaxThunk(LinkedGraph graph, const ModuleCompiler& compiler) : graph_(std::move(graph)), compiler_(compiler) {}

  using Thunk::run;
  void run(std::span<const View> inputs, Receiver& results) const override {
    results.begin(inputs, true);
    std::vector<Array> arrays;
    Lengths lengths;
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      const TensorType& type = graph_->inputs()[k].storage();
      arrays.push_back(borrow(inputs[k], type.dtype, type.ndim()).contiguous());
      for (auto length : arrays.back().shape()) lengths.push_back(length);
    }
    const auto variant = variant_for(lengths, arrays);
    std::vector<Array> made = variant->compiled->run(arrays);
    if (!variant->module.checks.empty()) {
      const bool* outcome = made.back().data_as<bool>();
      for (std::size_t k = 0; k < variant->module.checks.size(); ++k)
        if (!outcome[k])
          explain_failure(graph_, {variant->module.checks[k].node, variant->module.checks[k].message}, inputs);
      made.pop_back();
    }
    for (std::size_t k = 0; k < made.size(); ++k) {
      void* const place = results.place(int(k), made[k].dtype(), made[k].shape());
      if (made[k].nbytes()) std::memcpy(place, made[k].data(), std::size_t(made[k].nbytes()));
    }
  }
  bool writes_last() const override { return true; }
  void free() const override {
    const std::lock_guard lock(mutex_);
    variants_.clear();
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
  // Modules of one function are compiled one after the other; of the same lengths, the second caller finds the first's.
  std::shared_ptr<const Variant> variant_for(const Lengths& lengths, std::span<const Array> arrays) const {
    const std::lock_guard lock(mutex_);
    auto& variant = variants_[lengths];
    if (variant) return variant;
    std::vector<Dims> shapes;
    for (auto& array : arrays) shapes.push_back(array.shape());
    auto made = std::make_shared<Variant>();
    made->module = stablehlo::write_module(*graph_, shapes, {.platform = compiler_.platform()});
    made->compiled = compiler_.compile(made->module.text);
    variant = std::move(made);
    return variant;
  }

  const LinkedGraph graph_;
  const ModuleCompiler& compiler_;
  mutable std::mutex mutex_;
  mutable std::map<Lengths, std::shared_ptr<const Variant>> variants_;
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
