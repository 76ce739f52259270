// Linker `jax` by way of Python: modules are compiled by bitale.jax, which needs jaxlib and is imported when the first
// module is compiled.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

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
  void become(const Resident& other) const override {
    const nb::gil_scoped_acquire locked;
    array = dynamic_cast<const ArrayOfJax&>(other).array;
  }

  mutable nb::object array;
};

Array holding_jax(nb::object array, DType dtype, const Dims& shape) {
  return Array::holding(make_ref<ArrayOfJax>(std::move(array), dtype, shape));
}

// A result of a module: viewed in place, or fetched from the device.
Array seen(nb::handle result, const ModuleSource::Tensor& type) {
  auto* buffer = new Py_buffer;
  if (PyObject_GetBuffer(result.ptr(), buffer, PyBUF_ND) != 0) {
    delete buffer;
    PyErr_Clear();
    return array_from(linker_module().attr("fetched")(result), Share::Borrow).contiguous();
  }
  const auto release = [](void* held) {
    const nb::gil_scoped_acquire locked;
    PyBuffer_Release(static_cast<Py_buffer*>(held));
    delete static_cast<Py_buffer*>(held);
  };
  return Array::borrow(buffer->buf, type.dtype, type.lengths, contiguous_strides(type.lengths, itemsize(type.dtype)),
                       std::shared_ptr<void>(buffer, release));
}

class ModuleOfJax final : public CompiledModule {
 public:
  ModuleOfJax(nb::object call, std::vector<ModuleSource::Tensor> results)
      : call_(std::move(call)), results_(std::move(results)) {}
  ~ModuleOfJax() override {
    const nb::gil_scoped_acquire locked;
    call_.reset();
  }
  std::vector<Array> run(std::span<const Array> inputs, const std::vector<bool>& stay) const override {
    const nb::gil_scoped_acquire locked;
    std::vector<nb::object> arrays;
    std::vector<PyObject*> arguments;
    bool reads_host = false;
    for (auto& input : inputs) {
      nb::object own = jax_array(input);
      reads_host |= !own;
      arrays.push_back(own ? std::move(own) : numpy_view(input));
      arguments.push_back(arrays.back().ptr());
    }
    const nb::object made = nb::steal(PyObject_Vectorcall(call_.ptr(), arguments.data(), arguments.size(), nullptr));
    if (!made) nb::raise_python_error();
    std::vector<Array> out;
    for (std::size_t k = 0; k < results_.size(); ++k) {
      const nb::object result = nb::borrow(PyList_GET_ITEM(made.ptr(), Py_ssize_t(k)));
      reads_host &= bool(stay[k]);
      out.push_back(stay[k] ? holding_jax(result, results_[k].dtype, results_[k].lengths) : seen(result, results_[k]));
    }
    // After the call, the caller may write into its arrays, which CPU devices read in place. As soon as one result is
    // ready, all are.
    if (reads_host && !out.empty()) jax_array(out[0]).attr("block_until_ready")();
    return out;
  }

 private:
  nb::object call_;
  const std::vector<ModuleSource::Tensor> results_;
};

nb::list types_of(const std::vector<ModuleSource::Tensor>& tensors) {
  nb::list out;
  for (auto& [dtype, lengths] : tensors)
    out.append(
        nb::make_tuple(std::string(dtype_name(dtype)), std::vector<std::int64_t>(lengths.begin(), lengths.end())));
  return out;
}

std::shared_ptr<const CompiledModule> compile_by_jax(const ModuleSource& module) {
  const nb::gil_scoped_acquire locked;
  nb::object call = linker_module().attr("compile_module")(module.text, types_of(module.inputs),
                                                           types_of(module.results), module.donated);
  return std::make_shared<ModuleOfJax>(std::move(call), module.results);
}

Array to_device_of_jax(const Array& value) {
  const nb::gil_scoped_acquire locked;
  return holding_jax(linker_module().attr("to_device")(to_numpy(value)), value.dtype(), value.shape());
}

Array copy_by_jax(const Array& resident) {
  const nb::gil_scoped_acquire locked;
  const Resident& own = *resident_in(resident);
  return holding_jax(linker_module().attr("copied")(jax_array(resident)), own.dtype(), own.shape());
}

std::string platform_of_jax() {
  const nb::gil_scoped_acquire locked;
  return nb::cast<std::string>(linker_module().attr("platform")());
}

constexpr ModuleCompiler compiler{platform_of_jax, compile_by_jax, to_device_of_jax, copy_by_jax};

}  // namespace

nb::object jax_array(const Array& value) {
  const auto* own = dynamic_cast<const ArrayOfJax*>(value.object());
  return own ? own->array : nb::object();
}

bool hold_jax_array(nb::handle object, DType dtype, Array& held) {
  if (!linker_module().attr("is_on_device")(object, std::string(dtype_name(dtype))).is(nb::bool_(true))) return false;
  Dims shape;
  for (nb::handle length : nb::object(object.attr("shape"))) shape.push_back(nb::cast<std::int64_t>(length));
  held = holding_jax(nb::borrow(object), dtype, shape);
  return true;
}

// The package is only searched for here; it is imported when it is needed.
void bind_jax(nb::module_&) {
  if (!nb::module_::import_("importlib.util").attr("find_spec")("jax").is_none()) set_module_compiler(&compiler);
}

}  // namespace bitale::python
