// Linker `jax` by way of Python: modules are compiled by bitale.jax, which needs jaxlib and is imported when the first
// module is compiled.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bind.hpp"
#include "bitale/link/module_compiler.hpp"
#include "hooks.hpp"
#include "jax.hpp"
#include "numpy_bridge.hpp"

namespace bitale::python {

namespace {

class ArrayOfJax final : public Resident {
 public:
  ArrayOfJax(nb::object array, DType dtype, Dims shape) : Resident(dtype, std::move(shape)), array(std::move(array)) {}
  ~ArrayOfJax() override {
    const nb::gil_scoped_acquire locked;
    array.reset();
  }
  Array fetch() const override {
    const nb::gil_scoped_acquire locked;
    return array_from(hook("jax_fetched")(array), Share::Borrow).copy();
  }
  bool is_within(std::int64_t least, std::int64_t end) const override {
    const nb::gil_scoped_acquire locked;
    return nb::cast<bool>(hook("jax_is_within")(array, least, end));
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

// A result of a module: viewed in place, or in the memory to which it is fetched from the device. Either has no other
// owner, so that the caller may write to it.
Array seen(nb::handle result, const ModuleSource::Tensor& type) {
  auto buffer = std::make_unique<Py_buffer>();
  if (PyObject_GetBuffer(result.ptr(), buffer.get(), PyBUF_ND) != 0) {
    PyErr_Clear();
    const nb::object fetched = hook("jax_fetched")(result);
    if (PyObject_GetBuffer(fetched.ptr(), buffer.get(), PyBUF_ND) != 0) nb::raise_python_error();
  }
  const auto release = [](void* held) {
    const nb::gil_scoped_acquire locked;
    PyBuffer_Release(static_cast<Py_buffer*>(held));
    delete static_cast<Py_buffer*>(held);
  };
  void* const memory = buffer->buf;
  return Array::borrow(memory, type.dtype, type.lengths, contiguous_strides(type.lengths, itemsize(type.dtype)),
                       std::shared_ptr<void>(buffer.release(), release));
}

class ModuleOfJax final : public CompiledModule {
 public:
  ModuleOfJax(nb::object call, std::vector<ModuleSource::Tensor> results, bool in_host_memory)
      : call_(std::move(call)), results_(std::move(results)), in_host_memory_(in_host_memory) {}
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
    const auto result_of = [&](std::size_t k) { return nb::borrow(PyList_GET_ITEM(made.ptr(), Py_ssize_t(k))); };
    // All results are on their way before the first of them is waited for.
    for (std::size_t k = 0; k < results_.size() && !in_host_memory_; ++k)
      if (!stay[k]) hook("jax_begin_to_fetch")(result_of(k));
    std::vector<Array> out;
    for (std::size_t k = 0; k < results_.size(); ++k) {
      const nb::object result = result_of(k);
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
  const bool in_host_memory_;
};

// The package is only searched for; it is imported when a module is compiled.
bool is_jax_installed() {
  const nb::gil_scoped_acquire locked;
  static const bool found = !nb::module_::import_("importlib.util").attr("find_spec")("jax").is_none();
  return found;
}

std::string platform_of_jax() {
  const nb::gil_scoped_acquire locked;
  return nb::cast<std::string>(hook("jax_platform")());
}

nb::list types_of(const std::vector<ModuleSource::Tensor>& tensors) {
  nb::list out;
  for (auto& [dtype, lengths] : tensors)
    out.append(
        nb::make_tuple(std::string(dtype_name(dtype)), std::vector<std::int64_t>(lengths.begin(), lengths.end())));
  return out;
}

std::shared_ptr<const CompiledModule> compile_by_jax(const ModuleSource& module) {
  const nb::gil_scoped_acquire locked;
  nb::object call =
      hook("jax_compile_module")(module.text, types_of(module.inputs), types_of(module.results), module.donated);
  return std::make_shared<ModuleOfJax>(std::move(call), module.results, platform_of_jax() == "cpu");
}

Array to_device_of_jax(const Array& value) {
  const nb::gil_scoped_acquire locked;
  return holding_jax(hook("jax_to_device")(to_numpy(value)), value.dtype(), value.shape());
}

Array copy_by_jax(const Array& resident) {
  const nb::gil_scoped_acquire locked;
  const Resident& own = *resident_in(resident);
  return holding_jax(hook("jax_copied")(jax_array(resident)), own.dtype(), own.shape());
}

constexpr ModuleCompiler compiler{is_jax_installed, platform_of_jax, compile_by_jax, to_device_of_jax, copy_by_jax};

}  // namespace

nb::object jax_array(const Array& value) {
  const auto* own = dynamic_cast<const ArrayOfJax*>(value.object());
  return own ? own->array : nb::object();
}

namespace {

// What was found about an array by its type, its aval and its sharding, which JAX makes once for many arrays.
// References keep the last two alive, so that their addresses identify them.
struct KnownArray {
  PyTypeObject* type = nullptr;
  PyObject *aval = nullptr, *sharding = nullptr;
  DType dtype{};
  Dims shape;
};

// Asking JAX takes 4 us for an argument of a call that takes 40; entries replace each other by the address of the aval.
// Never destroyed, as Python may be gone by then; the interpreter's lock guards it.
KnownArray& known_array(const PyObject* aval) {
  static auto& table = *new std::array<KnownArray, 64>;
  return table[(reinterpret_cast<std::uintptr_t>(aval) >> 4) % table.size()];
}

}  // namespace

bool hold_jax_array(nb::handle object, DType dtype, Array& held) {
  const nb::object aval = nb::getattr(object, "aval", nb::none()),
                   sharding = nb::getattr(object, "sharding", nb::none());
  KnownArray& known = known_array(aval.ptr());
  const bool is_known = known.aval == aval.ptr() && known.sharding == sharding.ptr() &&
                        known.type == Py_TYPE(object.ptr()) && known.dtype == dtype && !aval.is_none();
  if (!is_known) {
    if (!hook("jax_is_on_device")(object, std::string(dtype_name(dtype))).is(nb::bool_(true))) return false;
    Dims shape;
    for (nb::handle length : nb::object(object.attr("shape"))) shape.push_back(nb::cast<std::int64_t>(length));
    const KnownArray before = known;
    known = {Py_TYPE(object.ptr()), aval.inc_ref().ptr(), sharding.inc_ref().ptr(), dtype, std::move(shape)};
    Py_INCREF(known.type);
    Py_XDECREF(before.type);
    Py_XDECREF(before.aval);
    Py_XDECREF(before.sharding);
  }
  held = holding_jax(nb::borrow(object), dtype, known.shape);
  return true;
}

void bind_jax(nb::module_&) { set_module_compiler(&compiler); }

}  // namespace bitale::python
