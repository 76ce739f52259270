// A Python object that C++ may copy and release on any thread.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <utility>

namespace bitale::python {

namespace nb = nanobind;

using Held = std::shared_ptr<nb::object>;

inline Held hold(nb::object object) {
  return Held(new nb::object(std::move(object)), [](nb::object* held) {
    nb::gil_scoped_acquire locked;
    delete held;
  });
}

}  // namespace bitale::python
