// Docstrings and signatures of bound functions, made when somebody asks for them: importing the module costs nothing
// for them. nanobind's functions answer __doc__ with the signature and a text given at the definition; here a described
// function (reference/reference.hpp) answers with numpydoc's sections, and every function has the attributes of a
// builtin, so that help(), inspect.signature() and editors treat it as one.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <string_view>
#include <vector>

#include "bitale/core/text.hpp"
#include "docstrings.hpp"
#include "function_object.hpp"
#include "reference/classes.hpp"
#include "reference/reference.hpp"
#include "signature_text.hpp"
#include "variable_object.hpp"

namespace bitale::python {

using namespace nanobind::literals;

namespace {

// The functions of labelled tensors in the module of all.
constexpr std::string_view labelled_prefix = "xtensor_";

// The attributes as nanobind gives them.
getattrofunc function_attribute = nullptr, method_attribute = nullptr, bound_attribute = nullptr;
PyTypeObject *function_type = nullptr, *method_type = nullptr, *bound_type = nullptr;

nb::object original(nb::handle function, const char* name) {
  const getattrofunc get = Py_TYPE(function.ptr()) == function_type ? function_attribute
                           : Py_TYPE(function.ptr()) == method_type ? method_attribute
                                                                    : bound_attribute;
  const nb::str key(name);
  PyObject* value = get(function.ptr(), key.ptr());
  if (!value) nb::raise_python_error();
  return nb::steal(value);
}

// A name, or "" where the function has none, as the getter of a property.
std::string name_attribute(nb::handle function, const char* attribute) {
  const nb::object name = original(function, attribute);
  return nb::isinstance<nb::str>(name) ? nb::cast<std::string>(name) : "";
}

// ---- signatures ----------------------------------------------------------------------------------------------------

// (text, docstring, default values) of the first overload.
nb::tuple first_signature(nb::handle function) {
  return nb::cast<nb::tuple>(nb::cast<nb::tuple>(original(function, "__nb_signature__"))[0]);
}

// "\3" in a signature stands for the fourth of the default values.
nb::object default_value(const Part& part, nb::handle defaults) {
  if (part.default_text.starts_with('\\'))
    return nb::object(defaults[nb::int_(std::stoi(part.default_text.substr(1)))]);
  try {
    return nb::module_::import_("ast").attr("literal_eval")(part.default_text);
  } catch (const nb::python_error&) {
    return nb::str(part.default_text.c_str());
  }
}

// An inspect.Signature of the first overload. `annotated`: with annotations; `skip`: so many parameters are left out.
nb::object signature_of(nb::handle function, bool annotated, std::size_t skip) {
  const nb::tuple first = first_signature(function);
  const Signature signature = parse_signature(nb::cast<std::string>(first[0]));
  const nb::module_ inspect = nb::module_::import_("inspect");
  const nb::object parameter = inspect.attr("Parameter"), empty = parameter.attr("empty");
  nb::list parameters;
  for (std::size_t i = skip; i < signature.parts.size(); ++i) {
    const Part& part = signature.parts[i];
    const char* kind = part.stars == 2        ? "VAR_KEYWORD"
                       : part.stars == 1      ? "VAR_POSITIONAL"
                       : part.keyword_only    ? "KEYWORD_ONLY"
                       : part.positional_only ? "POSITIONAL_ONLY"
                                              : "POSITIONAL_OR_KEYWORD";
    nb::object value = part.default_text.empty() ? empty : default_value(part, first[2]);
    const nb::object annotation =
        annotated && !part.annotation.empty() ? nb::object(nb::str(short_annotation(part.annotation).c_str())) : empty;
    parameters.append(
        parameter(part.name, parameter.attr(kind), nb::arg("default") = value, nb::arg("annotation") = annotation));
  }
  const nb::object result =
      annotated && !signature.result.empty() ? nb::object(nb::str(short_annotation(signature.result).c_str())) : empty;
  return inspect.attr("Signature")(parameters, nb::arg("return_annotation") = result);
}

// ---- docstrings ----------------------------------------------------------------------------------------------------

std::string text_of_default(const Part& part, nb::handle defaults) {
  if (part.default_text.empty()) return "";
  return nb::cast<std::string>(nb::repr(default_value(part, defaults)));
}

// The generator of stubs imports the module as _core, without the package.
bool is_ours(nb::handle function) {
  const nb::object module = original(function, "__module__");
  if (!nb::isinstance<nb::str>(module)) return false;
  const std::string_view name = nb::cast<nb::str>(module).c_str();
  return name == "_core" || name.starts_with("bitale");
}

// The name under which the reference has a function or method, or "". Methods of variables share the descriptions of
// the functions whose first argument they are of; others have descriptions of their own.
std::string described_name(nb::handle function) {
  const std::string name = name_attribute(function, "__name__");
  if (Py_TYPE(function.ptr()) == function_type) return is_described(name) ? name : "";
  const std::string qualified = name_attribute(function, "__qualname__");
  if (is_described(qualified)) return qualified;
  if (const std::string of_labelled = std::string(labelled_prefix) + name; qualified == cat(methods_of_labelled, name))
    return is_described(of_labelled) ? of_labelled : "";
  return qualified == "TensorVariable." + name && is_described(name) ? name : "";
}

std::string docstring_of(nb::handle function) {
  const bool is_method = Py_TYPE(function.ptr()) != function_type;
  if (const std::string name = described_name(function); !name.empty()) {
    const nb::tuple first = first_signature(function);
    const Signature signature = parse_signature(nb::cast<std::string>(first[0]));
    std::vector<Parameter> parameters;
    for (const Part& part : signature.parts)
      if (!is_method || &part != &signature.parts[0])
        parameters.push_back(
            {part.name, part.annotation, text_of_default(part, first[2]), part.stars, part.keyword_only});
    std::string example;
    if (const nb::object text = first[1]; nb::isinstance<nb::str>(text)) {
      example = nb::cast<std::string>(text);
      const std::size_t at = example.find(">>>");
      example.erase(0, at == std::string::npos ? example.size() : at);
    }
    return docstring(name, parameters, signature.result, example);
  }
  std::string out;
  for (nb::handle overload : nb::cast<nb::tuple>(original(function, "__nb_signature__"))) {
    const nb::object text = overload[nb::int_(1)];
    if (!nb::isinstance<nb::str>(text)) continue;
    if (!out.empty()) out += "\n\n";
    out += nb::cast<nb::str>(text).c_str();
  }
  return out;
}

// The signatures with the whole docstring, for the stub.
nb::object signatures_with_docstring(nb::handle function) {
  nb::list out;
  const std::string name = described_name(function);
  const nb::str text(docstring_of(function).c_str());
  const bool is_function = Py_TYPE(function.ptr()) == function_type;
  if (const std::vector<std::string> typed = typed_overloads(name); is_function && !typed.empty()) {
    for (const std::string& one : overloads(nb::cast<std::string>(first_signature(function)[0]), typed)) {
      const bool is_first = nb::len(out) == 0;
      out.append(nb::make_tuple(nb::str(one.c_str()), is_first ? nb::object(text) : nb::none(), nb::none()));
    }
    return nb::tuple(out);
  }
  for (nb::handle overload : nb::cast<nb::tuple>(original(function, "__nb_signature__"))) {
    const bool is_first = nb::len(out) == 0;
    const std::string typed =
        with_types(nb::cast<std::string>(overload[nb::int_(0)]), name.empty() ? 0 : result_count(name));
    out.append(nb::make_tuple(nb::str(typed.c_str()), is_first ? nb::object(text) : nb::none(), overload[nb::int_(2)]));
  }
  return nb::tuple(out);
}

// The attribute, or null for those that stay nanobind's.
nb::object attribute(nb::handle function, std::string_view name) {
  const bool is_bound = Py_TYPE(function.ptr()) == bound_type;
  if (name == "__doc__") return nb::str(docstring_of(function).c_str());
  if (name == "__name__" || name == "__qualname__") {
    // A stub lists functions by the names that they have here.
    const std::string given = name_attribute(function, std::string(name).c_str());
    const std::string own(own_name(given));
    if (own == given || name_attribute(function, "__module__") == "_core") return {};
    return nb::str(own.c_str());
  }
  if (name == "__nb_signature__" && !is_bound) return signatures_with_docstring(function);
  if (name == "__signature__") return signature_of(function, true, is_bound ? 1 : 0);
  if (name == "__text_signature__") return nb::str(signature_of(function, false, is_bound ? 1 : 0));
  if (name == "__class__" && Py_TYPE(function.ptr()) != method_type)
    return nb::borrow(reinterpret_cast<PyObject*>(&PyCFunction_Type));
  return {};
}

template <getattrofunc* Original>
PyObject* get_attribute(PyObject* self, PyObject* name) {
  const char* text = PyUnicode_AsUTF8AndSize(name, nullptr);
  if (!text) return nullptr;
  const std::string_view wanted = text;
  const bool is_special = wanted == "__doc__" || wanted == "__nb_signature__" || wanted == "__signature__" ||
                          wanted == "__text_signature__" || wanted == "__class__" || wanted == "__name__" ||
                          wanted == "__qualname__";
  if (!is_special) return (*Original)(self, name);
  try {
    if (wanted == "__nb_signature__" || is_ours(self))
      if (nb::object value = attribute(self, wanted)) return value.release().ptr();
  } catch (nb::python_error& error) {
    error.restore();
    return nullptr;
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
    return nullptr;
  }
  return (*Original)(self, name);
}

// pydoc reads the attribute that the type has, without asking the object.
PyObject* get_docstring(PyObject* self, void*) {
  const nb::str name("__doc__");
  return Py_TYPE(self)->tp_getattro(self, name.ptr());
}

template <getattrofunc* Original>
void replace(PyTypeObject* type) {
  if (const nb::object own = nb::borrow(reinterpret_cast<PyObject*>(type)).attr("__dict__")["__doc__"];
      Py_TYPE(own.ptr()) == &PyGetSetDescr_Type)
    reinterpret_cast<PyGetSetDescrObject*>(own.ptr())->d_getset->get = get_docstring;
  *Original = type->tp_getattro;
  type->tp_getattro = get_attribute<Original>;
  PyType_Modified(type);
}

// ---- compiled functions --------------------------------------------------------------------------------------------

// The parameters of a compiled function: its inputs by name, with their defaults. Those before one that has no name are
// given by position alone, those after one with a default by name alone.
nb::object signature_of_compiled(const FunctionObject& function) {
  const nb::module_ inspect = nb::module_::import_("inspect");
  const nb::object parameter = inspect.attr("Parameter"), empty = parameter.attr("empty");
  const std::vector<std::string>& names = function.input_names;
  std::size_t by_position = names.size();
  const auto is_identifier = [](const std::string& name) {
    return !name.empty() && nb::cast<bool>(nb::str(name.c_str()).attr("isidentifier")()) &&
           !nb::cast<bool>(nb::module_::import_("keyword").attr("iskeyword")(name));
  };
  while (by_position > 0 && is_identifier(names[by_position - 1])) --by_position;
  nb::list parameters;
  bool had_default = false;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const bool is_optional = has_default(function, i);
    const char* kind = i < by_position               ? "POSITIONAL_ONLY"
                       : had_default && !is_optional ? "KEYWORD_ONLY"
                                                     : "POSITIONAL_OR_KEYWORD";
    const std::string name = is_identifier(names[i]) ? names[i] : "input_" + std::to_string(i);
    const nb::object value = !is_optional ? empty : function.has_trees ? nb::none() : wrap(function.defaults[i]);
    had_default = had_default || is_optional;
    parameters.append(parameter(name, parameter.attr(kind), nb::arg("default") = value));
  }
  return inspect.attr("Signature")(parameters);
}

// Gives instances of a class an attribute that the class itself does not have.
struct SignatureOfInstance {};

void bind_signature_of_compiled(nb::module_& m) {
  nb::class_<SignatureOfInstance>(m, "_SignatureOfInstance", "The signature of a compiled function.")
      .def(
          "__get__",
          [](const SignatureOfInstance&, nb::handle function, nb::handle) {
            if (function.is_none()) throw nb::attribute_error("__signature__");
            return signature_of_compiled(*nb::inst_ptr<FunctionObject>(function));
          },
          "instance"_a.none(), "owner"_a.none());
  m.attr("Function").attr("__signature__") = nb::cast(SignatureOfInstance());
}

}  // namespace

void bind_docstrings(nb::module_& m) {
  const nb::object function = m.attr("exp"), method = m.attr("TensorVariable").attr("sum");
  function_type = Py_TYPE(function.ptr());
  method_type = Py_TYPE(method.ptr());
  bound_type = Py_TYPE(nb::object(method.attr("__get__")(nb::int_(0), m.attr("TensorVariable"))).ptr());
  replace<&function_attribute>(function_type);
  replace<&method_attribute>(method_type);
  replace<&bound_attribute>(bound_type);
  m.def("described_functions", &described_names, "Names of the functions that the reference describes, for tests.");
  bind_signature_of_compiled(m);
  // A pickle has the name of a function; nanobind's functions have no pickles.
  nb::module_::import_("copyreg").attr("pickle")(
      nb::handle(reinterpret_cast<PyObject*>(function_type)),
      nb::cpp_function([](nb::handle function) { return name_attribute(function, "__name__"); }));
  for (const ClassDescription& described : class_descriptions())
    m.attr(described.name).attr("__doc__") = nb::str(described.docstring);
}

}  // namespace bitale::python
