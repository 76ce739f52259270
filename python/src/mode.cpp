// Mode, and modes by name.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "arguments.hpp"
#include "bind.hpp"
#include "bitale/compile/mode.hpp"
#include "bitale/core/config.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "define.hpp"
#include "function_arguments.hpp"
#include "function_maker.hpp"
#include "hooks.hpp"
#include "instance.hpp"
#include "linker.hpp"

namespace bitale::python {

namespace {

// By name; objects, because a subclass in Python has attributes of its own. Never destroyed: modes may hold objects
// that outlive the interpreter.
nb::dict registered() {
  static auto& modes = *new nb::dict;
  return modes;
}

void register_mode(const std::string& name, Any mode) {
  const std::vector<std::string> names = mode_names();
  if (registered().contains(name.c_str()) || std::find(names.begin(), names.end(), name) != names.end())
    throw ValueError(cat("register_mode: there is a mode '", name, "' already"));
  if (!instance_of<Mode>(mode)) throw TypeError(cat("register_mode: expected a Mode, got ", shown(mode)));
  registered()[name.c_str()] = mode;
}

// What config.mode was set to, where that is a Mode; the same object, as subclasses have attributes of their own.
nb::object& default_mode() {
  static auto& mode = *new nb::object(nb::none());
  return mode;
}

void set_default_mode_object(Any mode) {
  if (!mode.is_none() && !instance_of<Mode>(mode))
    throw ValueError(cat("mode: expected the name of a mode or a Mode, got ", shown(mode)));
  set_default_mode(mode.is_none() ? std::nullopt : std::optional(nb::cast<Mode>(mode)));
  default_mode() = mode;
}

}  // namespace

nb::object mode_or_default(nb::handle mode) { return mode.is_none() ? default_mode() : mode_object(mode); }

nb::object mode_object(nb::handle mode) {
  if (mode.is_none()) return default_mode().is_none() ? nb::cast(get_default_mode()) : default_mode();
  if (instance_of<Mode>(mode)) return nb::borrow(mode);
  if (!PyUnicode_Check(mode.ptr())) throw TypeError(cat("mode: expected a name or a Mode, got ", shown(mode)));
  if (registered().contains(mode)) return registered()[mode];
  return nb::cast(get_mode(nb::cast<std::string>(mode)));
}

void bind_mode(nb::module_& m) {
  nb::class_<Mode>(m, "Mode", "How to compile: a linker, and which rewrites.")
      .def(
          "__init__",
          [](Mode* self, nb::handle linker, nb::handle optimizer, nb::handle db) {
            const Linker by = linker.is_none() ? Linker(config::get("linker")) : linker_of(linker);
            const bool is_name = optimizer.is_none() || PyUnicode_Check(optimizer.ptr());
            const std::string name = !is_name ? "" : optimizer.is_none() ? "None" : nb::cast<std::string>(optimizer);
            if (is_name && db.is_none())
              new (self) Mode(by, name == "default" ? config::get("optimizer") : name);
            else
              new (self) Mode(by, nb::cast<RewriteQuery>(hook("core_query")(
                                      is_name ? nb::object(nb::str(name.c_str())) : nb::borrow(optimizer), db)));
          },
          "linker"_a.none() = nb::none(), "optimizer"_a.none() = "default", "db"_a = nb::none(),
          nb::sig("def __init__(self, linker: str | Linker | None = None, optimizer: typing.Any = 'default', db: "
                  "typing.Any = None) -> None"),
          "linker: None for config.linker. optimizer: a name, None for no rewrites, \"default\" for config.optimizer; "
          "a "
          "RewriteDatabaseQuery; or a GraphRewriter, which is then all that is done. db: the database that is queried; "
          "None for optdb.")
      .def_prop_ro(
          "linker", [](const Mode& self) { return linker_object(self.linker()); },
          nb::sig("def linker(self) -> typing.Any"), "The linker, which equals its name.")
      .def_prop_ro(
          "optimizer", [](const Mode& self) { return hook("rewriter_of_query")(self.query()); },
          nb::sig("def optimizer(self) -> typing.Any"), "The GraphRewriter of what the mode's query selects.")
      .def_prop_ro(
          "provided_optimizer", [](const Mode& self) { return hook("query_object")(self.query()); },
          nb::sig("def provided_optimizer(self) -> typing.Any"), "The mode's RewriteDatabaseQuery.")
      .def_prop_ro(
          "optdb", [](const Mode& self) { return hook("database_of_query")(self.query()); },
          nb::sig("def optdb(self) -> typing.Any"), "The database that is queried.")
      .def(
          "clone",
          [](nb::handle object, const std::optional<nb::dict>& link_kwargs, nb::handle optimizer) -> nb::object {
            if (link_kwargs && nb::len(*link_kwargs))
              throw NotImplementedError("Mode.clone: link_kwargs: give Mode a linker with these options");
            const Mode& self = nb::cast<const Mode&>(object);
            if (PyUnicode_Check(optimizer.ptr()) && nb::cast<std::string>(optimizer).empty()) return nb::cast(self);
            const nb::object other = nb::type<Mode>()(linker_object(self.linker()), optimizer);
            return nb::cast(nb::cast<const Mode&>(other).making(self.maker()));
          },
          "link_kwargs"_a = nb::none(), "optimizer"_a = "",
          nb::sig("def clone(self, link_kwargs: dict | None = None, optimizer: typing.Any = '') -> Mode"),
          "The mode, with another optimizer where one is given.")
      .def(
          "including",
          [](const Mode& self, nb::args tags) { return self.including(nb::cast<std::vector<std::string>>(tags)); },
          "tags"_a, "With the rewrites of these tags or names too.")
      .def(
          "excluding",
          [](const Mode& self, nb::args tags) { return self.excluding(nb::cast<std::vector<std::string>>(tags)); },
          "tags"_a, "Without the rewrites of these tags or names.")
      .def(
          "requiring",
          [](const Mode& self, nb::args tags) { return self.requiring(nb::cast<std::vector<std::string>>(tags)); },
          "tags"_a, "Only those rewrites that have these tags.")
      .def("__reduce__",
           [](nb::handle object) {
             const Mode& self = nb::cast<const Mode&>(object);
             if (!self.query().extra.empty())
               throw NotImplementedError("pickling: a Mode with rewrites of its own (Mode.register) can't be stored");
             return nb::make_tuple(
                 hook("stored_mode"),
                 nb::make_tuple(
                     linker_object(self.linker()),
                     self.given_query() ? nb::cast(*self.given_query()) : nb::object(nb::str(self.optimizer().c_str())),
                     self.included(), self.excluded(), self.required(), stored_maker(object)));
           })
      .def("__repr__", &Mode::str);
  m.def("mode_of_stored", [](nb::handle linker, nb::handle optimizer, const std::vector<std::string>& included,
                             const std::vector<std::string>& excluded, const std::vector<std::string>& required) {
    const Mode mode = PyUnicode_Check(optimizer.ptr()) ? Mode(linker_of(linker), nb::cast<std::string>(optimizer))
                                                       : Mode(linker_of(linker), nb::cast<RewriteQuery>(optimizer));
    return mode.including(included).excluding(excluded).requiring(required);
  });
  m.def("mode_with_maker_of", [](const Mode& mode, const Mode& other) { return mode.making(other.maker()); });
  m.def(
      "get_mode", [](Any orig_string) { return mode_object(orig_string); }, "orig_string"_a = nb::none(),
      nb::sig("def get_mode(orig_string: str | Mode | None = None) -> Mode"), "The mode of a name.");
  m.def("register_mode", register_mode, "name"_a, "mode"_a, nb::sig("def register_mode(name: str, mode: Mode) -> None"),
        "Give a mode a name, by which functions find it.");
  m.def(
      "registered_modes", [] { return registered(); }, "Modes by the names that were given to them.");
  m.def(
      "get_default_mode", [] { return mode_object(nb::none()); }, nb::sig("def get_default_mode() -> Mode"));
  m.def(
      "default_mode", [] { return default_mode(); }, "The Mode that config.mode was set to, or None.");
  m.def("set_default_mode", set_default_mode_object, "mode"_a.none(), "None: the mode that the flag names.");
  m.def("mode_names", [] { return mode_names(); });
}

}  // namespace bitale::python
