// Walks the Python stack outwards to the first frame that is not Bitale's.
#include "caller.hpp"

#include <Python.h>
#include <nanobind/nanobind.h>

#include <string_view>

namespace bitale::python {

namespace nb = nanobind;

namespace {

std::string& package_folder() {
  static auto& folder = *new std::string;
  return folder;
}

std::string_view text_of(PyObject* string) {
  Py_ssize_t size = 0;
  const char* text = PyUnicode_AsUTF8AndSize(string, &size);
  if (!text) {
    PyErr_Clear();
    return {};
  }
  return {text, std::size_t(size)};
}

std::string_view function_name(PyCodeObject* code) {
#if PY_VERSION_HEX >= 0x030B0000
  std::string_view name = text_of(code->co_qualname);
#else
  std::string_view name = text_of(code->co_name);
#endif
  return name == "<module>" ? std::string_view() : name;
}

}  // namespace

void set_package_folder(std::string folder) { package_folder() = std::move(folder) + "/"; }

Location caller_location() {
  const std::string& own = package_folder();
  PyFrameObject* frame = PyEval_GetFrame();
  Py_XINCREF(reinterpret_cast<PyObject*>(frame));
  while (frame) {
    nb::object held_frame = nb::steal(reinterpret_cast<PyObject*>(frame));
    PyCodeObject* code = PyFrame_GetCode(frame);
    nb::object held_code = nb::steal(reinterpret_cast<PyObject*>(code));
    std::string_view file = text_of(code->co_filename);
    if (own.empty() || !file.starts_with(own))
      return Location::interned(file, std::uint32_t(PyFrame_GetLineNumber(frame)), function_name(code));
    frame = PyFrame_GetBack(frame);
  }
  return {};
}

}  // namespace bitale::python
