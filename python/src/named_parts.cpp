#include "named_parts.hpp"

#include <string>
#include <vector>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "instance.hpp"

namespace bitale::python {

namespace nb = nanobind;

nb::object class_of_parts(const char* name, const char* doc, std::initializer_list<const char*> parts) {
  std::vector<PyStructSequence_Field> fields;
  for (const char* part : parts) fields.push_back({part, nullptr});
  fields.push_back({nullptr, nullptr});
  PyStructSequence_Desc description{name, doc, fields.data(), int(parts.size())};
  nb::object made = nb::steal(reinterpret_cast<PyObject*>(PyStructSequence_NewType(&description)));
  if (!made) nb::raise_python_error();
  // Those of tuples repeat and join them.
  for (const char* name : {"__add__", "__radd__", "__mul__", "__rmul__"})
    made.attr(name) = nb::cpp_function([](nb::handle self, nb::handle) { refuse_named_parts(self); }, nb::is_method());
  return made;
}

bool has_named_parts(nb::handle object) {
  return PyTuple_Check(object.ptr()) && !PyTuple_CheckExact(object.ptr()) &&
         nb::hasattr(object.type(), "__match_args__");
}

void refuse_named_parts(nb::handle object) {
  std::vector<std::string> names;
  for (nb::handle name : object.type().attr("__match_args__")) names.push_back(nb::cast<std::string>(name));
  const std::string list = join(names, ", ");
  throw TypeError(cat("expected a tensor, got the ", names.size(), " parts of a result (", list, "): unpack them, `",
                      list, " = ...`"));
}

}  // namespace bitale::python
