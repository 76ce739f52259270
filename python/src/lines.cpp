// A scope in which nodes carry lines that the caller specifies, for graphs that are created from other libraries'
// graphs: their users need the line where they wrote an expression, not the line that translated it.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <tuple>

#include "bind.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/location.hpp"
#include "define.hpp"

namespace bitale::python {

namespace {

using Line = std::tuple<std::string, std::uint32_t, std::string>;  // file, line, function

struct AtLines {
  Location where;
  std::unique_ptr<LocationScope> scope;
};

Location location_of(const std::vector<Line>& lines) {
  Location out;
  for (auto& [file, line, function] : lines) out = Location::interned(file, line, function).called_from(out);
  return out ? out : Location::unnoted();
}

}  // namespace

void bind_lines(nb::module_& m) {
  nb::class_<AtLines>(
      m, "AtLines",
      "A context in which nodes are noted as made at these lines, (file, line, function), the outermost "
      "first. Without lines nothing is noted. It belongs to the thread that enters it.")
      .def(
          "__init__",
          [](AtLines* self, const std::vector<Line>& lines) {
            new (self) AtLines{location_of(lines), nullptr};
          },
          "lines"_a)
      .def("__enter__",
           [](AtLines& self) {
             if (self.scope) throw ValueError("AtLines: the context has been entered already");
             self.scope = std::make_unique<LocationScope>(self.where);
           })
      .def(
          "__exit__", [](AtLines& self, nb::handle, nb::handle, nb::handle) { self.scope.reset(); }, nb::arg().none(),
          nb::arg().none(), nb::arg().none());
}

}  // namespace bitale::python
