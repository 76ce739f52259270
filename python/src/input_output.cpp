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
#include "caller.hpp"
#include "define.hpp"
#include "flag.hpp"
#include "instance.hpp"
#include "numpy_bridge.hpp"
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
  container = as_tensor(type)
                  ? shared(array_from(value, Share::Borrow), label, Borrow::No, Dims(variable.static_shape()))
                  : shared_of(type, value_from(*type, value), label, Borrow::No);
}

bool InObject::owns_container() const {
  return container.defined() && !value.is_none() && !shared_variable_of(value).defined();
}

namespace {

// The name of an object of a registered class that has one; none for other trees.
std::optional<std::string> name_of_tree(nb::handle tree) {
  if (!tree_class_of(tree)) return {};
  const nb::object name = nb::getattr(tree, "name", nb::none());
  if (!PyUnicode_Check(name.ptr()) || nb::len(name) == 0) return {};
  return nb::cast<std::string>(name);
}

InObject input_of_variable(const Variable& variable) {
  InObject input;
  input.variable = variable;
  if (const std::string& name = variable.name(); !name.empty()) input.name = name;
  return input;
}

// The variables of a tree that is an input or an output. TypeError, with the path, for what is none.
Variables variables_of(const Tree& form, const Leaves& leaves, std::string_view where) {
  Variables out;
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    if (!is_variable(leaves[i]))
      throw TypeError(cat(form.paths(where)[i], ": expected a variable, got ", shown(leaves[i])));
    out.push_back(variable_of(leaves[i]));
  }
  return out;
}

// Options of an input, but for its value and its update.
struct InputOptions {
  std::optional<std::string> name;
  nb::handle is_mutable = nb::none(), strict = nb::none(), allow_downcast = nb::none(), autoname = nb::none(),
             implicit = nb::none(), borrow = nb::none(), shared = nb::none();
};

InObject make_input(nb::handle variable, const InputOptions& options, nb::handle value, nb::handle update);

// Each variable of the tree with its own value and update.
InObject make_tree_input(nb::handle tree, const InputOptions& options, nb::handle value, nb::handle update) {
  InObject input;
  Leaves leaves, values, updates;
  input.form = Tree::of(tree, leaves);
  input.tree = nb::borrow(tree);
  const std::string label = shown(tree);
  const Variables variables = variables_of(input.form, leaves, label);
  if (!value.is_none()) input.form.leaves_of(value, values, cat("In: the value of ", label));
  if (!update.is_none()) input.form.leaves_of(update, updates, cat("In: the update of ", label));
  input.name = options.name || options.autoname.ptr() == Py_False ? options.name : name_of_tree(tree);
  const std::vector<std::string> names = input.form.paths(input.name.value_or(""));
  for (std::size_t i = 0; i < variables.size(); ++i) {
    InputOptions own = options;
    if (input.name) own.name = variables.size() == 1 ? *input.name : names[i];
    const nb::object given = value.is_none() ? nb::none() : values[i];
    if (is_variable(given) && !is_shared(variable_of(given)))
      throw ValueError(cat("In: the value of ", label, ": expected a value, or shared variables of the same form, got ",
                           shown(value)));
    input.parts.push_back(make_input(leaves[i], own, given, update.is_none() ? nb::none() : updates[i]));
  }
  input.value = nb::borrow(value);
  input.update = nb::borrow(update);
  if (input.parts.empty()) return input;  // an argument without variables
  const InObject& first = input.parts.front();
  input.variable = first.variable;
  input.strict = first.strict;
  input.allow_downcast = first.allow_downcast;
  input.is_implicit = first.is_implicit;
  input.is_mutable = first.is_mutable;
  input.is_borrowed = first.is_borrowed;
  return input;
}

InObject make_input(nb::handle variable, const InputOptions& options, nb::handle value, nb::handle update) {
  if (is_tree(variable)) return make_tree_input(variable, options, value, update);
  const auto& [name, is_mutable, strict, allow_downcast, autoname, implicit, borrow, shared] = options;
  if (!is_variable(variable)) throw TypeError(cat("In: expected a variable, got ", shown(variable)));
  InObject input = input_of_variable(variable_of(variable));
  const std::string label = input.variable.str();
  const std::optional<bool> mutable_given = optional_flag(is_mutable, "In: mutable");
  const std::optional<bool> borrow_given = optional_flag(borrow, "In: borrow");
  const std::optional<bool> implicit_given = optional_flag(implicit, "In: implicit");
  if (mutable_given.value_or(false) && borrow_given == false)
    throw ValueError(cat("In: ", label, " can't be mutable without borrow"));
  if (name || (!autoname.is_none() && !flag(autoname, "In: autoname"))) input.name = name;
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

}  // namespace

InObject as_input(nb::handle given) {
  if (auto* input = instance_of<InObject>(given)) return *input;
  if (is_variable(given)) return input_of_variable(variable_of(given));
  if (is_tree(given)) return make_tree_input(given, {}, nb::none(), nb::none());
  throw TypeError(cat("function: expected variables as inputs, got ", shown(given)));
}

OutObject as_output(nb::handle given) {
  if (auto* output = instance_of<OutObject>(given)) return *output;
  if (!is_tree(given)) return {as_variable(given)};
  OutObject out;
  Leaves leaves;
  out.form = Tree::of(given, leaves);
  out.tree = nb::borrow(given);
  for (std::size_t i = 0; i < leaves.size(); ++i) out.parts.push_back(as_variable(leaves[i]));
  if (!out.parts.empty()) out.variable = out.parts.front();
  return out;
}

namespace {

nb::object container_object(const Variable& container) {
  return container.defined() ? nb::cast(ContainerObject{container}) : nb::none();
}

// What pickle stores: all but what `store` makes of it, which the container has.
using InputState = std::tuple<Variable, std::optional<std::string>, nb::object, nb::object, bool, std::optional<bool>,
                              bool, bool, bool, nb::object, nb::object, nb::list>;

InputState state_of(const InObject& self) {
  nb::list parts;
  for (const InObject& part : self.parts) parts.append(nb::cast(part));
  return {self.variable,    self.name,
          self.value,       self.update,
          self.strict,      self.allow_downcast,
          self.is_implicit, self.is_mutable,
          self.is_borrowed, container_object(self.container),
          self.tree,        parts};
}

InObject input_of_state(nb::handle state) {
  const nb::tuple s = nb::cast<nb::tuple>(state);
  InObject out;
  if (!nb::object(s[0]).is_none()) out.variable = nb::cast<Variable>(s[0]);
  out.name = nb::cast<std::optional<std::string>>(s[1]);
  out.value = s[2];
  out.update = s[3];
  out.strict = nb::cast<bool>(s[4]);
  out.allow_downcast = nb::cast<std::optional<bool>>(s[5]);
  out.is_implicit = nb::cast<bool>(s[6]);
  out.is_mutable = nb::cast<bool>(s[7]);
  out.is_borrowed = nb::cast<bool>(s[8]);
  out.container = shared_variable_of(s[9]);
  if (nb::len(s) > 10) out.tree = s[10];
  if (!out.is_tree()) return out;
  Leaves leaves;
  out.form = Tree::of(out.tree, leaves);
  for (nb::handle part : nb::borrow<nb::list>(s[11])) out.parts.push_back(*instance_of<InObject>(part));
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
            return value_object(*self.variable.type(), get_value(self.variable, Borrow::No));
          },
          [](const ContainerObject& self, Any value) {
            set_value(self.variable, value_from(*self.variable.type(), value), Borrow::No);
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
        const nb::object value = value_object(*self.variable.type(), get_value(self.variable, Borrow::Yes));
        return cat("<Container ", self.variable.name(), " ", nb::cast<std::string>(nb::repr(value)), ">");
      });
}

// An option of an input, which those of its parts have, too.
template <class Member>
void bind_option(nb::class_<InObject>& cls, const char* name, Member InObject::*member) {
  cls.def_prop_rw(
      name, [member](const InObject& self) { return self.*member; },
      [member](InObject& self, Member value) {
        self.*member = value;
        for (InObject& part : self.parts) part.*member = value;
      },
      nb::for_setter(nb::arg().none()));
}

template <class Object>
void bind_tree_of(nb::class_<Object>& cls) {
  cls.def_prop_ro(
      "tree", [](const Object& self) { return self.tree; }, nb::sig("def tree(self) -> typing.Any"),
      "The value made of several variables that it is, such as a dict; None for one of a variable.");
}

}  // namespace

void bind_input_output(nb::module_& m) {
  bind_container(m);
  nb::class_<InObject> input(m, "In", "Input of a function, with options.");
  bind_tree_of(input);
  bind_option(input, "strict", &InObject::strict);
  bind_option(input, "allow_downcast", &InObject::allow_downcast);
  bind_option(input, "implicit", &InObject::is_implicit);
  bind_option(input, "mutable", &InObject::is_mutable);
  bind_option(input, "borrow", &InObject::is_borrowed);
  input
      .def(
          "__init__",
          [](InObject* self, Any variable, const std::optional<std::string>& name, Any value, Any update,
             Any is_mutable, Any strict, Any allow_downcast, Any autoname, Any implicit, Any borrow, Any shared) {
            const InputOptions options{name, is_mutable, strict, allow_downcast, autoname, implicit, borrow, shared};
            new (self) InObject(make_input(variable, options, value, update));
          },
          "variable"_a.none(), "name"_a = nb::none(), "value"_a = nb::none(), "update"_a = nb::none(),
          "mutable"_a = nb::none(), "strict"_a = false, "allow_downcast"_a = nb::none(), "autoname"_a = true,
          "implicit"_a = nb::none(), "borrow"_a = nb::none(), "shared"_a = false,
          nb::sig("def __init__(self, variable: typing.Any, name: str | None = None, value: typing.Any = "
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
      .def_prop_ro(
          "shared", [](const InObject& self) { return is_variable(self.value); },
          "Whether a shared variable has the value.")
      .def_prop_ro(
          "container", [](const InObject& self) { return container_object(self.container); },
          nb::sig("def container(self) -> Container | None"), "What has the value between calls.")
      .def("__getstate__", state_of)
      .def("__setstate__", [](InObject& self, nb::handle state) { new (&self) InObject(input_of_state(state)); })
      .def("__repr__", [](const InObject& self) {
        return cat("In(", self.is_tree() ? shown(self.tree) : self.variable.str(), ")");
      });
  nb::class_<OutObject> output(m, "Out", "Output of a function, with options.");
  bind_tree_of(output);
  output
      .def(
          "__init__",
          [](OutObject* self, Any variable, Any borrow) {
            if (!is_tree(variable) && !is_variable(variable))
              throw TypeError(cat("Out: expected a variable, got ", shown(variable)));
            OutObject made = as_output(variable);
            made.is_borrowed = flag(borrow, "Out: borrow");
            new (self) OutObject(std::move(made));
          },
          "variable"_a.none(), "borrow"_a = false,
          nb::sig("def __init__(self, variable: typing.Any, borrow: bool = False) -> None"))
      .def_rw("variable", &OutObject::variable, nb::for_getter(nb::sig("def variable(self) -> Variable")),
              nb::for_setter(nb::sig("def variable(self, value: Variable, /) -> None")))
      .def_rw("borrow", &OutObject::is_borrowed)
      .def("__getstate__", [](const OutObject& self) { return std::tuple(self.variable, self.is_borrowed, self.tree); })
      .def("__setstate__",
           [](OutObject& self, const nb::tuple& state) {
             const bool is_tree = nb::len(state) > 2 && !nb::object(state[2]).is_none();
             OutObject made = as_output(is_tree ? nb::object(state[2]) : nb::object(state[0]));
             made.is_borrowed = nb::cast<bool>(state[1]);
             new (&self) OutObject(std::move(made));
           })
      .def("__repr__", [](const OutObject& self) {
        return cat("Out(", self.is_tree() ? shown(self.tree) : self.variable.str(),
                   self.is_borrowed ? ", True)" : ", False)");
      });
}

}  // namespace bitale::python
