// Rewriting for users: their own rules as equations or functions, checks, traces and reports. bitale/rewrite.py
// re-exports these.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <string>

#include "arguments.hpp"
#include "bind.hpp"
#include "bitale/compile/mode.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/printing/printing.hpp"
#include "bitale/rewriting/rewriting.hpp"
#include "bitale/rewriting/rules.hpp"
#include "define.hpp"
#include "function_graph.hpp"
#include "function_object.hpp"
#include "held.hpp"
#include "ops/elementwise/elemwise.hpp"
#include "ops/registry.hpp"

namespace bitale::python {

namespace {

using rewriting::CheckReport;
using rewriting::NodeFunction;
using rewriting::Root;
using rewriting::Rule;
using rewriting::Rules;

// ---- functions ------------------------------------------------------------------------------------------------------

// None and False: no change. Otherwise a variable, a list with one per output (None keeps that output), or a dict.
std::optional<Variables> replacements_of(nb::handle result, const Apply& node) {
  if (result.is_none() || result.ptr() == Py_False) return std::nullopt;
  if (is_variable(result)) return Variables{variable_of(result)};
  Variables out;
  if (PyDict_Check(result.ptr())) {
    out.resize(node.output_count());
    for (auto& [before, after] : as_replacements(result, "a rule's result")) {
      if (!before.owner().same_as(node))
        throw ValueError(cat("a rule's result replaces `", before.str(), "`, which is not an output of its node"));
      out[std::size_t(before.index())] = after;
    }
    return out;
  }
  if (!PyList_Check(result.ptr()) && !PyTuple_Check(result.ptr()))
    throw TypeError(cat("a rule returns False, a variable, a list or a dict of replacements, got ", shown(result)));
  for (nb::handle item : result) out.push_back(item.is_none() ? Variable() : require_variable(item, "a rule's result"));
  return out;
}

enum class Access { Read, Change };

// A graph that a function may use only during the call.
class ScopedAccess {
 public:
  ScopedAccess(FunctionGraph& graph, Access access)
      : seen(nb::cast(FunctionGraphObject{std::shared_ptr<const FunctionGraph>(std::shared_ptr<void>(), &graph),
                                          access == Access::Change ? &graph : nullptr})) {}
  ~ScopedAccess() {
    static const auto& nothing = *new std::shared_ptr<const FunctionGraph>(
        std::make_shared<const FunctionGraph>(Variables(), Variables(), false));
    *nb::inst_ptr<FunctionGraphObject>(seen) = {nothing, nullptr};
  }
  ScopedAccess(const ScopedAccess&) = delete;
  ScopedAccess& operator=(const ScopedAccess&) = delete;

  const nb::object seen;
};

NodeFunction node_function(nb::object function) {
  return [held = hold(std::move(function))](FunctionGraph& graph, const Apply& node) -> std::optional<Variables> {
    nb::gil_scoped_acquire locked;
    const ScopedAccess lent(graph, Access::Read);
    try {
      return replacements_of((*held)(lent.seen, wrap(node)), node);
    } catch (const nb::python_error& error) {
      throw ValueError(error.what());
    }
  };
}

std::function<void(FunctionGraph&)> graph_function(nb::object function) {
  return [held = hold(std::move(function))](FunctionGraph& graph) {
    nb::gil_scoped_acquire locked;
    const ScopedAccess lent(graph, Access::Change);
    try {
      (*held)(lent.seen);
    } catch (const nb::python_error& error) {
      throw ValueError(error.what());
    }
  };
}

// ---- rules ----------------------------------------------------------------------------------------------------------

std::uint32_t dtypes_of(const std::string& name) {
  const std::pair<const char*, std::uint32_t> known[] = {
      {"floats", rewriting::floats},           {"integers", rewriting::integers}, {"numbers", rewriting::numbers},
      {"signed_ints", rewriting::signed_ints}, {"bools", rewriting::bools},       {"any", rewriting::any_dtype}};
  std::vector<std::string> names;
  for (auto& [each, dtypes] : known) {
    if (name == each) return dtypes;
    names.emplace_back(each);
  }
  throw ValueError(cat("on=\"", name, "\": expected one of ", join(names, ", ")));
}

// A rule as Python holds it: it stores how to declare the rule, so that the rule can be checked before it is
// registered.
struct RuleObject {
  std::string name, doc;
  std::vector<std::string> tags;
  std::function<Rule&(Rules&)> declare;

  Rule& declare_with(Rules& rules, const std::vector<std::string>& more) const {
    Rule& rule = declare(rules).doc(doc);
    for (auto* list : {&tags, &more})
      for (auto& tag : *list)
        if (!rule.has_tag(tag)) rule.tags(tag);
    return rule;
  }
  CheckReport check() const {
    Rules rules;
    return rewriting::verify_rule(declare_with(rules, {}));
  }
  void add(const std::vector<std::string>& more, bool overwrite) const {
    rewriting::register_rules([&](Rules& rules) { declare_with(rules, more); }, overwrite);
  }
};

RuleObject equation_rule(const std::string& name, const Variable& left, const Variable& right,
                         const std::vector<std::string>& tags, const Variables& assume, const std::string& doc,
                         const std::string& on, bool wider_domain, bool no_signed_zeros, bool more_accurate,
                         const std::vector<double>& differs_at) {
  // Numbers that were broadcast when the sides were written are folded to numbers again.
  const Variables sides = rewrite_graph(Variables{left, right}, {"constant_folding"});
  const std::uint32_t dtypes = dtypes_of(on);
  RuleObject out{name, doc, tags, [=](Rules& rules) -> Rule& {
                   Rule& rule = rules.equation(name, sides[0], sides[1]).on(dtypes).differs_at(differs_at);
                   if (!assume.empty()) rule.assume(assume);
                   if (wider_domain) rule.wider_domain();
                   if (no_signed_zeros) rule.no_signed_zeros();
                   if (more_accurate) rule.more_accurate();
                   return rule;
                 }};
  Rules rules;
  out.declare_with(rules, {});  // an invalid rule raises its error now
  return out;
}

// A misspelt name would create a rule that is never tried. Users' ops are given as ops, not by name.
void require_op_name(const std::string& name) {
  std::vector<std::string> known;
  for (auto* op : scalar_ops()) known.emplace_back(op->name);
  for (auto& entry : op_registry()) known.push_back(entry.name);
  if (std::find(known.begin(), known.end(), name) != known.end()) return;
  const std::string near = closest(name, known);
  throw ValueError(cat("node_rewriter: no op is called \"", name, "\"",
                       near.empty() ? "" : cat("; did you mean \"", near, "\"?"),
                       " (functions that are composed of several ops have none of their own)"));
}

RuleObject function_rule(const std::string& name, const std::optional<std::vector<std::string>>& tracks,
                         nb::object function, const std::vector<std::string>& tags, const std::string& doc,
                         nb::list samples) {
  std::vector<Variable> expressions;
  for (nb::handle sample : samples) expressions.push_back(require_variable(sample, "sample"));
  return {name, doc, tags,
          [name, expressions, apply = node_function(std::move(function)),
           root = tracks ? Root::names(*tracks) : Root::any()](Rules& rules) -> Rule& {
            Rule& rule = rules.function(name, root, apply);
            for (auto& expression : expressions) rule.sample([expression] { return expression; });
            return rule;
          }};
}

// ---- rewrites of a mode ---------------------------------------------------------------------------------------------

// From (rule or function of a graph, position).
ExtraRewrite extra_rewrite_of(nb::handle given) {
  if (!PyTuple_Check(given.ptr()) || nb::len(given) != 2 || !PyNumber_Check(nb::object(given[1]).ptr()))
    throw TypeError(cat("Mode.register: expected pairs (rewrite, position), got ", shown(given)));
  const nb::object rewrite = given[0];
  const double position = nb::cast<double>(nb::float_(nb::object(given[1])));
  if (nb::isinstance<RuleObject>(rewrite)) {
    Rules rules;
    nb::cast<const RuleObject&>(rewrite).declare_with(rules, {});
    return extra_rewrite(std::move(rules.take()[0]), position);
  }
  if (!PyCallable_Check(rewrite.ptr()))
    throw TypeError(cat("Mode.register: expected a rule, or a function of a FunctionGraph, got ", shown(rewrite)));
  const nb::object name = nb::getattr(rewrite, "__name__", nb::type_name(rewrite.type()));
  return {nb::cast<std::string>(name), graph_function(rewrite), position};
}

void bind_mode_register(nb::module_& m) {
  nb::borrow<nb::class_<Mode>>(m.attr("Mode"))
      .def(
          "register",
          [](const Mode& self, nb::args rewrites) {
            std::vector<ExtraRewrite> own;
            for (nb::handle rewrite : rewrites) own.push_back(extra_rewrite_of(rewrite));
            return self.registering(std::move(own));
          },
          "rewrites"_a,
          "The mode with rewrites of its own: pairs (rewrite, position). A rewrite is a Rule, which is applied until "
          "nothing changes, or a function of a FunctionGraph, which may change it during the call. It runs when the "
          "phases have come to its position (canonicalize is at 1, stabilize at 1.5, specialize at 2, uncanonicalize "
          "at 3). TypeError for anything else.");
}

// ---- reports of rewriting -------------------------------------------------------------------------------------------

void bind_reports(nb::module_& m) {
  using Step = RewriteReport::Step;
  nb::class_<Step>(m, "RewriteStep", "One use of a rule.")
      .def_ro("phase", &Step::phase)
      .def_ro("rule", &Step::rule)
      .def_ro("before", &Step::before, "What stood there, a few levels deep.")
      .def_ro("after", &Step::after, "What it became.")
      .def_ro("graph", &Step::graph, "The whole expression after the step.")
      .def("__repr__",
           [](const Step& self) { return cat(self.phase, "/", self.rule, ": ", self.before, "  ->  ", self.after); });
  nb::class_<RewriteReport>(m, "RewriteReport", "What rewriting did: time, uses of rules, nodes before and after.")
      .def_ro("nodes_before", &RewriteReport::nodes_before)
      .def_ro("nodes_after", &RewriteReport::nodes_after)
      .def_ro("seconds", &RewriteReport::seconds)
      .def_ro("errors", &RewriteReport::errors)
      .def_prop_ro(
          "uses",
          [](const RewriteReport& self) {
            nb::dict out;
            for (auto& rule : self.rules)
              if (rule.hits) out[nb::str(rule.name.c_str())] = self.hits(rule.name);
            return out;
          },
          nb::sig("def uses(self) -> dict[str, int]"), "How often each rule was used.")
      .def(
          "hits", [](const RewriteReport& self, const std::string& rule) { return self.hits(rule); }, "rule"_a,
          "How often the rule was used.")
      .def("__str__", &RewriteReport::str);
  nb::borrow<nb::class_<FunctionObject>>(m.attr("Function"))
      .def_prop_ro(
          "rewrite_report", [](const FunctionObject& self) { return self.function.rewrite_report(); },
          "What rewriting did; times of single rules only with profile=True.");
}

void bind_rules(nb::module_& m) {
  nb::class_<CheckReport>(m, "CheckReport", "What checking a rule found.")
      .def_ro("failures", &CheckReport::failures)
      .def_ro("notes", &CheckReport::notes)
      .def_ro("compared", &CheckReport::compared, "Values of both sides that were compared.")
      .def_prop_ro("ok", &CheckReport::ok)
      .def("__bool__", &CheckReport::ok)
      .def("__str__", &CheckReport::str)
      .def("__repr__", &CheckReport::str);
  nb::class_<RuleObject>(m, "Rule", "A rewrite rule.")
      .def_ro("name", &RuleObject::name)
      .def_ro("doc", &RuleObject::doc)
      .def_ro("tags", &RuleObject::tags)
      .def("_check", &RuleObject::check)
      .def("_register", &RuleObject::add, "tags"_a, "overwrite"_a)
      .def("__repr__", [](const RuleObject& self) { return cat("<Rule ", self.name, ">"); });
  m.def("equation_rule", equation_rule, "name"_a, "left"_a, "right"_a, "tags"_a, "assume"_a, "doc"_a, "on"_a,
        "wider_domain"_a, "no_signed_zeros"_a, "more_accurate"_a, "differs_at"_a);
  m.def("function_rule", function_rule, "name"_a, "tracks"_a.none(), "function"_a, "tags"_a, "doc"_a, "samples"_a);
  m.def(
      "check_rule", [](const std::string& name) { return rewriting::verify_rule(name); }, "name"_a);
  nb::class_<RuleDescription>(m, "RuleDescription", "What is known of a registered rule.")
      .def_ro("name", &RuleDescription::name)
      .def_ro("doc", &RuleDescription::doc)
      .def_ro("root", &RuleDescription::root)
      .def_ro("left", &RuleDescription::left)
      .def_ro("right", &RuleDescription::right)
      .def_ro("phases", &RuleDescription::phases)
      .def_ro("tags", &RuleDescription::tags)
      .def_ro("domain", &RuleDescription::domain)
      .def_ro("hits", &RuleDescription::hits)
      .def("__repr__", [](const RuleDescription& self) {
        return self.left.empty() ? cat(self.name, ": ", self.doc) : cat(self.name, ": ", self.left, " -> ", self.right);
      });
  m.def("describe_rules", &describe_rules);
  m.def(
      "rule_hits", [](const std::string& name) { return rule_hits(name); }, "name"_a);
}

}  // namespace

void bind_rewriting(nb::module_& m) {
  bind_reports(m);
  bind_rules(m);
  bind_mode_register(m);
  m.def(
      "rewrite_expressions",
      [](const Variables& expressions, const std::vector<std::string>& include,
         const std::vector<std::string>& exclude) { return rewrite_graph(expressions, include, exclude); },
      "expressions"_a, "include"_a, "exclude"_a);
  m.def(
      "trace_rewrite",
      [](const Variable& expression, const std::vector<std::string>& include, const std::vector<std::string>& exclude) {
        return trace_rewrite(expression, include, exclude);
      },
      "expression"_a, "include"_a, "exclude"_a);
  m.def(
      "op_name",
      [](const OpRef& op) {
        const auto* element = dynamic_cast<const Elemwise*>(op.get());
        return std::string(element ? element->scalar.name : op->name());
      },
      "op"_a);
  m.def("require_op_name", &require_op_name, "name"_a);
  m.def(
      "is_scalar_op",
      [](const std::string& name) {
        const auto known = scalar_ops();
        return std::any_of(known.begin(), known.end(), [&](auto* op) { return op->name == name; });
      },
      "name"_a);
  m.def("steps_text", &steps_text, "steps"_a);
  m.def(
      "steps_html", [](const std::vector<RewriteReport::Step>& steps) { return steps_html(steps); }, "steps"_a);
  m.def(
      "describe_optdb",
      [](const std::vector<std::string>& terms) { return describe_optdb(RewriteQuery::parse(terms)); }, "terms"_a);
}

}  // namespace bitale::python
