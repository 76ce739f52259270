// Linker `jax` by way of Python: modules are compiled by bitale.jax, which needs jaxlib and is imported when the first
// one is compiled.
#include <nanobind/nanobind.h>

#include <utility>

#include "bind.hpp"
#include "bitale/link/module_compiler.hpp"
#include "numpy_bridge.hpp"

namespace bitale::python {

namespace {

class ModuleOfJax final : public CompiledModule {
 public:
  explicit ModuleOfJax(nb::object call) : call_(std::move(call)) {}
  ~ModuleOfJax() override {
    const nb::gil_scoped_acquire locked;
    call_.reset();
  }
  std::vector<Array> run(std::span<const Array> inputs) const override {
    const nb::gil_scoped_acquire locked;
    nb::list arrays;
    for (auto& input : inputs) arrays.append(to_numpy(input));
    std::vector<Array> out;
    for (const nb::handle result : nb::list(call_(arrays)))
      out.push_back(array_from(result, Share::Borrow).contiguous());
    return out;
  }

 private:
  nb::object call_;
};

std::shared_ptr<const CompiledModule> compile_by_jax(const std::string& module) {
  const nb::gil_scoped_acquire locked;
  return std::make_shared<ModuleOfJax>(
      nb::module_::import_("bitale.jax").attr("compile_module")(nb::bytes(module.data(), module.size())));
}

std::string platform_of_jax() {
  const nb::gil_scoped_acquire locked;
  return nb::cast<std::string>(nb::module_::import_("bitale.jax.linker").attr("platform")());
}

constexpr ModuleCompiler compiler{platform_of_jax, compile_by_jax};

}  // namespace

// The package is looked for, and not imported before it is needed.
void bind_jax(nb::module_&) {
  if (!nb::module_::import_("importlib.util").attr("find_spec")("jax").is_none()) set_module_compiler(&compiler);
}

}  // namespace bitale::python
