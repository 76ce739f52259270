// In, Out and Container: the classes that are bound.
#include "input_output.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <tuple>
#include <utility>

#include "arguments.hpp"
#include "bind.hpp"
#include "bitale/compile/shared.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/xtensor/calculus.hpp"
#include "caller.hpp"
#include "define.hpp"
#include "flag.hpp"
#include "instance.hpp"
#include "labelled.hpp"
#include "numpy_bridge.hpp"
#include "sparse.hpp"
#include "values.hpp"

namespace bitale::python {

Downcast downcast_of(std::optional<bool> allow) {
  return !allow ? Downcast::FloatLiteral : *allow ? Downcast::Always : Downcast::Never;
}

std::optional<bool> optional_flag(nb::handle object, const char* what) {
  if (object.is_none()) return {};
  if (const auto truth = as_truth_value(object)) return truth;
  throw TypeError(cat(what, " is True, False or None, got ", shown(object)));
}

namespace {

bool flag(nb::handle object, const char* what) { return optional_flag(object, what).value_or(false); }

// The shared variable of a Container or of the object itself; null if it is neither.
Variable shared_variable_of(nb::handle object) {
  if (auto* container = instance_of<ContainerObject>(object)) return container->variable;
  if (is_variable(object) && is_shared(variable_of(object))) return variable_of(object);
  return {};
}

// The object as a value of the input. TypeError that names the input, whatever the type objects to.
nb::object value_of(const InObject& input, nb::handle given) {
  const auto refuse = [&](const char* reason) {
    return TypeError(cat("In: the value of ", input.variable.str(), ": ", reason));
  };
  const Type type = input.variable.type();
  try {
    return value_object(*type, value_from(*type, given, downcast_of(input.allow_downcast), input.strict).copy());
  } catch (const TypeError& error) {
    throw refuse(error.what());
  } catch (const ValueError& error) {
    throw refuse(error.what());
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_TypeError) && !error.matches(PyExc_ValueError)) throw;
    throw refuse(nb::cast<std::string>(nb::str(error.value())).c_str());
  }
}

}  // namespace

void InObject::hold(nb::handle given) {
  container = shared_variable_of(given);
  if (container.defined() && !variable.type()->is_super(*container.type()))
    throw TypeError(cat("In: ", variable.str(), " is ", variable.type()->str(), ", but its container holds ",
                        container.type()->str()));
  value = container.defined() || given.is_none() ? nb::borrow(given) : value_of(*this, given);
}

void InObject::store() {
  if (container.defined() || value.is_none()) return;
  const Type type = variable.type();
  const std::string label = name.value_or("");
  container = as_tensor(type) ? shared(array_from(value, Share::Borrow), label, false, Dims(variable.static_shape()))
                              : shared_of(type, value_from(*type, value), label, false);
}

bool InObject::owns_container() const {
  return container.defined() && !value.is_none() && !shared_variable_of(value).defined();
}

InObject as_input(nb::handle given) {
  if (auto* input = instance_of<InObject>(given)) return *input;
  if (!is_variable(given)) throw TypeError(cat("function: expected variables as inputs, got ", shown(given)));
  InObject input;
  input.variable = variable_of(given);
  if (const std::string& name = input.variable.name(); !name.empty()) input.name = name;
  return input;
}

namespace {

// The value of a labelled input as one of its tensor: arrays of xarray's have any order of dimensions.
nb::object value_in_order(const xtensor::XVariable& x, nb::handle value) {
  const auto* shared = labelled_in(value);
  if (shared && shared->names() != x.names())
    throw ValueError(cat("In: ", x.str(), " can't have the value of ", shared->str(), ", whose dimensions are others"));
  if (shared) return nb::cast(shared->values());
  return array_in_order(x.dims(), value, cat("In: the value of ", x.str()));
}

InObject make_input(nb::handle variable, const std::optional<std::string>& name, nb::handle value, nb::handle update,
                    nb::handle is_mutable, nb::handle strict, nb::handle allow_downcast, nb::handle autoname,
                    nb::handle implicit, nb::handle borrow, nb::handle shared) {
  if (const auto* matrix = matrix_in(variable))
    throw NotImplementedError(cat(
        "In: ", matrix->str(), ": options of sparse inputs are not implemented; function() takes the matrix itself"));
  if (const auto* x = labelled_in(variable)) {
    const nb::object given = value_in_order(*x, value);
    nb::object expression = nb::borrow(update);
    if (!update.is_none())
      expression = nb::cast(xtensor::values_in_order(as_labelled(update), x->dims(), "In: the update"));
    InObject input = make_input(nb::cast(x->values()), name, given, expression, is_mutable, strict, allow_downcast,
                                autoname, implicit, borrow, shared);
    input.labelled = nb::borrow(variable);
    return input;
  }
  if (!is_variable(variable)) throw TypeError(cat("In: expected a variable, got ", shown(variable)));
  InObject input = as_input(variable);
  const std::string label = input.variable.str();
  const std::optional<bool> mutable_given = optional_flag(is_mutable, "In: mutable");
  const std::optional<bool> borrow_given = optional_flag(borrow, "In: borrow");
  const std::optional<bool> implicit_given = optional_flag(implicit, "In: implicit");
  if (mutable_given.value_or(false) && borrow_given == false)
    throw ValueError(cat("In: ", label, " can't be mutable without borrow"));
  if (name || !flag(autoname, "In: autoname")) input.name = name;
  input.strict = flag(strict, "In: strict");
  input.allow_downcast = optional_flag(allow_downcast, "In: allow_downcast");
  input.update = nb::borrow(update);
  input.hold(value);
  if (value.is_none() && (!update.is_none() || implicit_given.value_or(false)))
    throw ValueError(cat("In: ", label, update.is_none() ? " is implicit" : " has an update",
                         ", but no value to start with: give it as value="));
  if (flag(shared, "In: shared") && !(is_variable(value) && is_shared(variable_of(value))))
    throw TypeError(cat("In: ", label, " is declared shared; expected a shared variable as value, got ", shown(value)));
  input.is_implicit = implicit_given.value_or(input.container.defined());
  input.is_mutable = mutable_given.value_or(!update.is_none());
  input.is_borrowed = borrow_given.value_or(input.is_mutable);
  return input;
}

nb::object container_object(const Variable& container) {
  return container.defined() ? nb::cast(ContainerObject{container}) : nb::none();
}

// What pickle stores: all but what `store` makes of it, which the container has.
using InputState = std::tuple<Variable, std::optional<std::string>, nb::object, nb::object, bool, std::optional<bool>,
                              bool, bool, bool, nb::object, nb::object>;

InputState state_of(const InObject& self) {
  return {self.variable,       self.name,        self.value,      self.update,      self.strict,
          self.allow_downcast, self.is_implicit, self.is_mutable, self.is_borrowed, container_object(self.container),
          self.labelled};
}

InObject input_of_state(nb::handle state) {
  const nb::tuple s = nb::cast<nb::tuple>(state);
  InObject out;
  out.variable = nb::cast<Variable>(s[0]);
  out.name = nb::cast<std::optional<std::string>>(s[1]);
  out.value = s[2];
  out.update = s[3];
  out.strict = nb::cast<bool>(s[4]);
  out.allow_downcast = nb::cast<std::optional<bool>>(s[5]);
  out.is_implicit = nb::cast<bool>(s[6]);
  out.is_mutable = nb::cast<bool>(s[7]);
  out.is_borrowed = nb::cast<bool>(s[8]);
  out.container = shared_variable_of(s[9]);
  if (nb::len(s) > 10) out.labelled = s[10];
  return out;
}

void bind_container(nb::module_& m) {
  nb::class_<ContainerObject>(m, "Container", "A storage cell.")
      .def(
          "__init__",
          [](ContainerObject* self, Any variable) {
            if (!is_variable(variable) || !is_shared(variable_of(variable)))
              throw TypeError(cat("Container: expected a shared variable, got ", shown(variable)));
            new (self) ContainerObject{variable_of(variable)};
          },
          "variable"_a.none(), nb::sig("def __init__(self, variable: Variable) -> None"))
      .def_prop_ro(
          "variable", [](const ContainerObject& self) { return self.variable; },
          nb::sig("def variable(self) -> Variable"), "The shared variable that has the value.")
      .def_prop_rw(
          "value",
          [](const ContainerObject& self) -> nb::object {
            return value_object(*self.variable.type(), get_value(self.variable, false));
          },
          [](const ContainerObject& self, Any value) {
            set_value(self.variable, value_from(*self.variable.type(), value), false);
          },
          nb::for_getter(nb::sig("def value(self) -> typing.Any")),
          nb::for_setter(nb::sig("def value(self, value: typing.Any, /) -> None")), nb::for_setter(nb::arg().none()),
          "A copy of the value. A new one that is not of the type raises TypeError, and the old one stays.")
      .def_prop_ro(
          "name",
          [](const ContainerObject& self) -> std::optional<std::string> {
            if (self.variable.name().empty()) return {};
            return self.variable.name();
          },
          "Name of the shared variable.")
      .def_prop_ro(
          "type", [](const ContainerObject& self) { return self.variable.type(); }, "Type of the value.")
      .def("__getstate__", [](const ContainerObject& self) { return std::tuple(self.variable); })
      .def("__setstate__", [](ContainerObject& self,
                              const std::tuple<Variable>& state) { new (&self) ContainerObject{std::get<0>(state)}; })
      .def("__repr__", [](const ContainerObject& self) {
        const nb::object value = value_object(*self.variable.type(), get_value(self.variable, true));
        return cat("<Container ", self.variable.name(), " ", nb::cast<std::string>(nb::repr(value)), ">");
      });
}

template <class Object>
void bind_labels(nb::class_<Object>& cls) {
  cls.def_prop_ro(
         "labelled", [](const Object& self) { return self.labelled; },
         nb::sig("def labelled(self) -> XTensorVariable | None"),
         "The labelled variable whose tensor the variable is, or None.")
      .def(
          "of_tensor",
          [](Object self) {
            self.labelled = nb::none();
            return self;
          },
          "The same of the tensor alone, without labels.");
}

}  // namespace

void bind_input_output(nb::module_& m) {
  bind_container(m);
  nb::class_<InObject> input(m, "In", "Input of a function, with options.");
  bind_labels(input);
  input
      .def(
          "__init__",
          [](InObject* self, Any variable, const std::optional<std::string>& name, Any value, Any update,
             Any is_mutable, Any strict, Any allow_downcast, Any autoname, Any implicit, Any borrow, Any shared) {
            new (self) InObject(make_input(variable, name, value, update, is_mutable, strict, allow_downcast, autoname,
                                           implicit, borrow, shared));
          },
          "variable"_a.none(), "name"_a = nb::none(), "value"_a = nb::none(), "update"_a = nb::none(),
          "mutable"_a = nb::none(), "strict"_a = false, "allow_downcast"_a = nb::none(), "autoname"_a = true,
          "implicit"_a = nb::none(), "borrow"_a = nb::none(), "shared"_a = false,
          nb::sig(
              "def __init__(self, variable: Variable | XTensorVariable, name: str | None = None, value: typing.Any = "
              "None, update: typing.Any = None, mutable: bool | None = None, strict: bool = False, allow_downcast: "
              "bool | None = "
              "None, autoname: bool = True, implicit: bool | None = None, borrow: bool | None = None, shared: bool "
              "= False) -> None"))
      .def_rw("variable", &InObject::variable, nb::for_getter(nb::sig("def variable(self) -> Variable")),
              nb::for_setter(nb::sig("def variable(self, value: Variable, /) -> None")))
      .def_rw("name", &InObject::name, nb::arg().none())
      .def_prop_ro(
          "value", [](const InObject& self) { return self.value; }, nb::sig("def value(self) -> typing.Any"),
          "The value to start with: an array, a shared variable or a Container; or None.")
      .def_rw("update", &InObject::update, nb::arg().none())
      .def_rw("strict", &InObject::strict)
      .def_rw("allow_downcast", &InObject::allow_downcast, nb::arg().none())
      .def_rw("implicit", &InObject::is_implicit)
      .def_rw("mutable", &InObject::is_mutable)
      .def_rw("borrow", &InObject::is_borrowed)
      .def_prop_ro(
          "shared", [](const InObject& self) { return is_variable(self.value); },
          "Whether a shared variable has the value.")
      .def_prop_ro(
          "container", [](const InObject& self) { return container_object(self.container); },
          nb::sig("def container(self) -> Container | None"), "What has the value between calls.")
      .def("__getstate__", state_of)
      .def("__setstate__", [](InObject& self, nb::handle state) { new (&self) InObject(input_of_state(state)); })
      .def("__repr__", [](const InObject& self) { return cat("In(", self.variable.str(), ")"); });
  nb::class_<OutObject> output(m, "Out", "Output of a function, with options.");
  bind_labels(output);
  output
      .def(
          "__init__",
          [](OutObject* self, Any variable, Any borrow) {
            const auto* labelled = labelled_in(variable);
            if (!labelled && !is_variable(variable))
              throw TypeError(cat("Out: expected a variable, got ", shown(variable)));
            new (self) OutObject{labelled ? labelled->values() : variable_of(variable), flag(borrow, "Out: borrow"),
                                 labelled ? nb::object(variable) : nb::none()};
          },
          "variable"_a.none(), "borrow"_a = false,
          nb::sig("def __init__(self, variable: Variable | XTensorVariable, borrow: bool = False) -> None"))
      .def_rw("variable", &OutObject::variable, nb::for_getter(nb::sig("def variable(self) -> Variable")),
              nb::for_setter(nb::sig("def variable(self, value: Variable, /) -> None")))
      .def_rw("borrow", &OutObject::is_borrowed)
      .def("__getstate__",
           [](const OutObject& self) { return std::tuple(self.variable, self.is_borrowed, self.labelled); })
      .def("__setstate__",
           [](OutObject& self, const nb::tuple& state) {
             new (&self) OutObject{nb::cast<Variable>(state[0]), nb::cast<bool>(state[1]),
                                   nb::len(state) > 2 ? nb::object(state[2]) : nb::none()};
           })
      .def("__repr__", [](const OutObject& self) {
        return cat("Out(", self.variable.str(), self.is_borrowed ? ", True)" : ", False)");
      });
}

}  // namespace bitale::python
