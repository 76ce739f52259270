// Rewriting for users: their own rules as equations or functions, checks, traces and reports. bitale/rewrite.py
// re-exports these.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
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
#include "bitale/ops/registry.hpp"
#include "bitale/printing/printing.hpp"
#include "bitale/rewriting/rewriting.hpp"
#include "bitale/rewriting/rules.hpp"
#include "define.hpp"
#include "function_graph.hpp"
#include "function_object.hpp"
#include "hooks.hpp"
#include "instance.hpp"
#include "ops/elementwise/elemwise.hpp"
#include "rewriters.hpp"

namespace bitale::python {

namespace {

using rewriting::Change;
using rewriting::ChangeFunction;
using rewriting::CheckReport;
using rewriting::Root;
using rewriting::Rule;
using rewriting::Rules;

// ---- functions ------------------------------------------------------------------------------------------------------

void add_replacement(Change& to, nb::handle before, nb::handle after) {
  if (after.is_none()) return;
  to.replacements.emplace_back(require_variable(before, "a rule's result"), require_variable(after, "a rule's result"));
}

Change change_of_dict(nb::handle result) {
  Change out;
  for (auto [before, after] : nb::cast<nb::dict>(result)) {
    if (!PyUnicode_Check(before.ptr())) {
      add_replacement(out, before, after);
      continue;
    }
    if (nb::cast<std::string>(before) != "remove")
      throw ValueError(cat("a rule's result: expected variables as keys, or \"remove\", got ", shown(before)));
    for (nb::handle item : after) {
      auto* node = instance_of<ApplyObject>(item);
      const Variable variable = node ? Variable() : require_variable(item, "a rule's result: remove");
      if (node || variable.has_owner()) out.removed.push_back(node ? node->apply : variable.owner());
    }
  }
  return out;
}

// None and False: no change. Otherwise a variable, a list with one per output (None keeps that output), or a dict from
// variables of the graph to what replaces them, in which "remove" lists what must have left the graph then.
std::optional<Change> change_of(nb::handle result, const Apply& node) {
  if (result.is_none() || result.ptr() == Py_False) return std::nullopt;
  if (PyDict_Check(result.ptr())) return change_of_dict(result);
  const bool is_list = PyList_Check(result.ptr()) || PyTuple_Check(result.ptr());
  if (!is_list && !is_variable(result))
    throw TypeError(cat("a rule returns False, a variable, a list or a dict of replacements, got ", shown(result)));
  const std::size_t count = is_list ? nb::len(result) : 1;
  if (count != node.output_count())
    throw InconsistencyError(cat("it gave ", count, " variables for ", node.output_count(), " outputs"));
  Change out;
  for (std::size_t i = 0; i < count; ++i)
    add_replacement(out, wrap(node.output(int(i))), is_list ? nb::object(result[i]) : nb::borrow(result));
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
        std::make_shared<const FunctionGraph>(Variables(), Variables(), Clone::No));
    *nb::inst_ptr<FunctionGraphObject>(seen) = {nothing, nullptr};
  }
  ScopedAccess(const ScopedAccess&) = delete;
  ScopedAccess& operator=(const ScopedAccess&) = delete;

  const nb::object seen;
};

}  // namespace

std::optional<Change> PythonChange::operator()(FunctionGraph& graph, const Apply& node) const {
  nb::gil_scoped_acquire locked;
  const ScopedAccess lent(graph, Access::Read);
  return change_of((*function)(lent.seen, wrap(node)), node);
}

void PythonPass::operator()(FunctionGraph& graph) const {
  nb::gil_scoped_acquire locked;
  const ScopedAccess lent(graph, Access::Change);
  (*function)(lent.seen);
}

namespace {

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

}  // namespace

RuleObject RuleObject::of(std::shared_ptr<const Rule> rule) {
  return {rule->name(), rule->doc(), rule->tags(), {}, std::move(rule)};
}

Rule& RuleObject::declare_with(Rules& rules, const std::vector<std::string>& more) const {
  if (!declare) throw ValueError(cat("rule ", name, ": only rules made by `equation` can be declared again"));
  Rule& rule = declare(rules).doc(doc);
  for (auto* list : {&tags, &more})
    for (auto& tag : *list)
      if (!rule.has_tag(tag)) rule.tags(tag);
  return rule;
}

const std::shared_ptr<const Rule>& RuleObject::rule() const {
  if (known) return known;
  Rules rules;
  declare_with(rules, {});
  return known = std::move(rules.take()[0]);
}

nb::object rewriter_of(const std::shared_ptr<const Rule>& rule) {
  if (auto* python = rule->change_function().target<PythonChange>()) return *python->rewriter;
  return nb::cast(RuleObject::of(rule));
}

std::shared_ptr<const Rule> rule_of(nb::handle rewriter, const std::optional<std::string>& name) {
  if (nb::isinstance<RuleObject>(rewriter)) return nb::cast<const RuleObject&>(rewriter).rule();
  if (!nb::hasattr(rewriter, "transform"))
    throw TypeError(cat("expected a rule or a node rewriter, got ", shown(rewriter)));
  return nb::cast<const RuleObject&>(hook("rule_of")(rewriter, nb::cast(name))).rule();
}

namespace {

RuleObject equation_rule(const std::string& name, const Variable& left, const Variable& right,
                         const std::vector<std::string>& tags, const Variables& assume, const std::string& doc,
                         const std::string& on, bool wider_domain, bool no_signed_zeros, bool more_accurate,
                         const std::vector<double>& differs_at) {
  // Numbers that were broadcast when the sides were written are folded to numbers again.
  const Variables sides = rewrite_graph(Variables{left, right}, {"constant_folding"});
  const std::uint32_t dtypes = dtypes_of(on);
  RuleObject out{name, doc, tags,
                 [=](Rules& rules) -> Rule& {
                   Rule& rule = rules.equation(name, sides[0], sides[1]).on(dtypes).differs_at(differs_at);
                   if (!assume.empty()) rule.assume(assume);
                   if (wider_domain) rule.wider_domain();
                   if (no_signed_zeros) rule.no_signed_zeros();
                   if (more_accurate) rule.more_accurate();
                   return rule;
                 },
                 nullptr};
  out.rule();  // an invalid rule raises its error now
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

// A rule of a node rewriter. `may_match` tells of an op whether nodes of its kind may be changed; None: all may.
RuleObject function_rule(const std::string& name, nb::object rewriter, nb::object function,
                         const std::optional<std::pair<std::string, nb::object>>& may_match, nb::object requirement,
                         const std::vector<std::string>& tags, const std::string& doc, nb::list samples) {
  Root root = Root::any();
  if (may_match)
    root = Root::where(may_match->first, [held = hold(may_match->second)](const Op& op) {
      nb::gil_scoped_acquire locked;
      return nb::cast<bool>((*held)(wrap(OpRef(&op))));
    });
  auto rule = std::make_shared<Rule>(
      name, std::move(root), ChangeFunction(PythonChange{hold(std::move(rewriter)), hold(std::move(function))}));
  rule->for_complex().doc(doc);
  for (auto& tag : tags) rule->tags(tag);
  for (nb::handle sample : samples)
    rule->sample([expression = require_variable(sample, "sample")] { return expression; });
  if (!requirement.is_none()) rule->needs(PythonPass{hold(std::move(requirement))});
  return RuleObject::of(std::move(rule));
}

nb::object transformed(const RuleObject& self, const FunctionGraphObject& graph, const ApplyObject& node) {
  // A rule reads the graph and gives what replaces variables of it; it changes nothing.
  auto& seen = const_cast<FunctionGraph&>(*graph.graph);
  const std::shared_ptr<const Rule>& rule = self.rule();
  if (!rule->root().matches(node.apply.op())) return nb::bool_(false);
  const RuleScope scope(rule->interned_name());
  const std::optional<Variables> results = rule->apply(seen, node.apply);
  return results ? nb::cast(*results) : nb::object(nb::bool_(false));
}

}  // namespace

// ---- rewrites of a mode ---------------------------------------------------------------------------------------------

ExtraRewrite extra_rewrite_of(nb::handle given) {
  if (!PyTuple_Check(given.ptr()) || nb::len(given) != 2 || !PyNumber_Check(nb::object(given[1]).ptr()))
    throw TypeError(cat("Mode.register: expected pairs (rewrite, position), got ", shown(given)));
  const nb::object rewrite = given[0];
  const double position = nb::cast<double>(nb::float_(nb::object(given[1])));
  if (nb::isinstance<RuleObject>(rewrite) || nb::hasattr(rewrite, "transform"))
    return extra_rewrite(rule_of(rewrite, std::nullopt), position);
  if (!PyCallable_Check(rewrite.ptr()))
    throw TypeError(cat("Mode.register: expected a rule, or a function of a FunctionGraph, got ", shown(rewrite)));
  const nb::object of_type = nb::type_name(rewrite.type()), name = nb::getattr(rewrite, "name", nb::none());
  const nb::object other = nb::getattr(rewrite, "__name__", of_type);
  return {nb::cast<std::string>(nb::isinstance<nb::str>(name) ? name : other), PythonPass{hold(rewrite)}, position};
}

namespace {

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
      .def("transform", transformed, "fgraph"_a, "node"_a,
           "What replaces the node's outputs, as a list; False where the rule does not apply.")
      .def(
          "tracks", [](const RuleObject&) { return nb::none(); }, nb::sig("def tracks(self) -> None"),
          "None: the engine knows on which nodes to try it.")
      .def(
          "add_requirements",
          [](const RuleObject& self, const FunctionGraphObject& graph) { self.rule()->prepare(writable_graph(graph)); },
          "fgraph"_a, "Attaches to a graph what the rule needs.")
      .def("_check", [](const RuleObject& self) { return rewriting::verify_rule(*self.rule()); })
      .def(
          "_register",
          [](const RuleObject& self, const std::vector<std::string>& more, bool overwrite) {
            rewriting::register_rules([&](Rules& rules) { self.declare_with(rules, more); },
                                      rewriting::Overwrite(overwrite));
          },
          "tags"_a, "overwrite"_a)
      .def("__repr__", [](const RuleObject& self) { return cat("<Rule ", self.name, ">"); });
  m.def("equation_rule", equation_rule, "name"_a, "left"_a, "right"_a, "tags"_a, "assume"_a, "doc"_a, "on"_a,
        "wider_domain"_a, "no_signed_zeros"_a, "more_accurate"_a, "differs_at"_a);
  m.def("function_rule", function_rule, "name"_a, "rewriter"_a, "function"_a, "may_match"_a.none(),
        "requirement"_a.none(), "tags"_a, "doc"_a, "samples"_a,
        nb::sig("def function_rule(name: str, rewriter: object, function: Callable[[FunctionGraph, Apply], object], "
                "may_match: tuple[str, Callable[[Op], bool]] | None, requirement: Callable[[FunctionGraph], object] | "
                "None, tags: list[str], doc: str, samples: list[TensorVariable]) -> Rule"));
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
      [](const Variables& expressions, const RewriteQuery& query, nb::object custom) {
        std::optional<PythonPass> then;
        if (!custom.is_none()) then = PythonPass{hold(std::move(custom))};
        return rewrite_graph(expressions, [&](FunctionGraph& graph) {
          rewrite(graph, query);
          if (then) (*then)(graph);
        });
      },
      "expressions"_a, "query"_a, "custom"_a = nb::none(),
      nb::sig("def rewrite_expressions(expressions: list[TensorVariable], query: RewriteQuery, custom: "
              "Callable[[FunctionGraph], object] | None = None) -> list[TensorVariable]"));
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
  m.def(
      "is_commutative",
      [](const OpRef& op) {
        const auto* element = op->elementwise();
        return element && element->has(commutative);
      },
      "op"_a, "Whether the op is elementwise and the order of its inputs does not matter.");
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
