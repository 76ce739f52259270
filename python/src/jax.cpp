// Linker `jax` by way of Python: modules are compiled by bitale.jax, which needs jaxlib and is imported when the first
// one is compiled.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <utility>

#include "bind.hpp"
#include "bitale/link/module_compiler.hpp"
#include "jax.hpp"
#include "numpy_bridge.hpp"

namespace bitale::python {

namespace {

nb::object linker_module() { return nb::module_::import_("bitale.jax.linker"); }

class ArrayOfJax final : public Resident {
 public:
  ArrayOfJax(nb::object array, DType dtype, Dims shape) : Resident(dtype, std::move(shape)), array(std::move(array)) {}
  ~ArrayOfJax() override {
    const nb::gil_scoped_acquire locked;
    array.reset();
  }
  Array fetch() const override {
    const nb::gil_scoped_acquire locked;
    return array_from(linker_module().attr("fetched")(array), Share::Borrow).copy();
  }

  nb::object array;
};

Array holding_jax(nb::object array, DType dtype) {
  Dims shape;
  const nb::object lengths = array.attr("shape");
  for (nb::handle length : lengths) shape.push_back(nb::cast<std::int64_t>(length));
  return Array::holding(make_ref<ArrayOfJax>(std::move(array), dtype, std::move(shape)));
}

nb::object given(const Array& value) {
  if (nb::object own = jax_array(value)) return own;
  return to_numpy(value);
}

class ModuleOfJax final : public CompiledModule {
 public:
  explicit ModuleOfJax(nb::object call) : call_(std::move(call)) {}
  ~ModuleOfJax() override {
    const nb::gil_scoped_acquire locked;
    call_.reset();
  }
  std::vector<Array> run(std::span<const Array> inputs, const std::vector<bool>& stay) const override {
    const nb::gil_scoped_acquire locked;
    nb::list arrays, staying;
    for (auto& input : inputs) arrays.append(given(input));
    for (const bool each : stay) staying.append(each);
    std::vector<Array> out;
    for (const nb::handle result : nb::list(call_(arrays, staying))) {
      if (stay[out.size()])
        out.push_back(
            holding_jax(nb::borrow(result), parse_dtype(nb::cast<std::string>(result.attr("dtype").attr("name")))));
      else
        out.push_back(array_from(result, Share::Borrow).contiguous());
    }
    return out;
  }

 private:
  nb::object call_;
};

std::shared_ptr<const CompiledModule> compile_by_jax(const std::string& module) {
  const nb::gil_scoped_acquire locked;
  return std::make_shared<ModuleOfJax>(linker_module().attr("compile_module")(nb::bytes(module.data(), module.size())));
}

Array to_device_of_jax(const Array& value) {
  const nb::gil_scoped_acquire locked;
  return holding_jax(linker_module().attr("to_device")(to_numpy(value)), value.dtype());
}

std::string platform_of_jax() {
  const nb::gil_scoped_acquire locked;
  return nb::cast<std::string>(linker_module().attr("platform")());
}

constexpr ModuleCompiler compiler{platform_of_jax, compile_by_jax, to_device_of_jax};

}  // namespace

nb::object jax_array(const Array& value) {
  const auto* own = dynamic_cast<const ArrayOfJax*>(value.object());
  return own ? own->array : nb::object();
}

bool hold_jax_array(nb::handle object, DType dtype, Array& held) {
  if (!linker_module().attr("is_on_device")(object, std::string(dtype_name(dtype))).is(nb::bool_(true))) return false;
  held = holding_jax(nb::borrow(object), dtype);
  return true;
}

// The package is looked for, and not imported before it is needed.
void bind_jax(nb::module_&) {
  if (!nb::module_::import_("importlib.util").attr("find_spec")("jax").is_none()) set_module_compiler(&compiler);
}

}  // namespace bitale::python
