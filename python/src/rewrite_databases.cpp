// optdb in Python: its phases and what is in them, queries, and stages of rewriting that can be applied by hand.
// bitale/graph/rewriting/db.py and basic.py show these by PyTensor's names.
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
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
#include "define.hpp"
#include "function_graph.hpp"
#include "rewriters.hpp"
#include "rewriting/database.hpp"
#include "rewriting/engine.hpp"

namespace bitale::python {

namespace {

using rewriting::DatabaseEntry;
using rewriting::GraphPass;
using rewriting::Member;
using rewriting::OptDB;
using rewriting::Order;
using rewriting::Rewrite;
using rewriting::Role;
using rewriting::Rule;
using rewriting::Stage;

// ---- stages ---------------------------------------------------------------------------------------------------------

struct StageObject {
  std::shared_ptr<const Stage> stage;
};

constexpr std::pair<std::string_view, Order> orders[] = {{"equilibrium", Order::equilibrium},
                                                         {"in_to_out", Order::in_to_out},
                                                         {"out_to_in", Order::out_to_in},
                                                         {"dfs", Order::depth_first}};

Order order_of(std::string_view name) {
  std::vector<std::string> names;
  for (auto& [each, order] : orders) {
    if (each == name) return order;
    names.emplace_back(each);
  }
  throw ValueError(cat("order: expected one of ", join(names, ", "), "; got \"", name, "\""));
}

using NamedFunctions = std::vector<std::pair<std::string, nb::object>>;

std::vector<rewriting::NamedPass> passes_of(const NamedFunctions& functions) {
  std::vector<rewriting::NamedPass> out;
  for (auto& [name, function] : functions) out.emplace_back(name, PythonPass{hold(function)});
  return out;
}

StageObject rewrite_stage(const std::string& name, nb::list rules, const std::string& order, bool visits_new_nodes,
                          std::optional<double> max_use_ratio, const NamedFunctions& first,
                          const NamedFunctions& last) {
  rewriting::SharedRules all;
  for (nb::handle rule : rules) all.push_back(rule_of(rule, std::nullopt));
  return {std::make_shared<const Stage>(Stage{.name = name,
                                              .rules = rewriting::RuleIndex(std::move(all)),
                                              .order = order_of(order),
                                              .visits_new_nodes = visits_new_nodes,
                                              .first = passes_of(first),
                                              .last = passes_of(last),
                                              .max_use_ratio = max_use_ratio})};
}

// `on_failure` is called as on_failure(raise_again, rewriter, node, pairs), where pairs is None if the rewriter itself
// has raised.
std::function<void(const rewriting::Failure&)> failure_handler(const StageObject& self, nb::object on_failure) {
  if (on_failure.is_none()) return {};
  return [&self, on_failure](const rewriting::Failure& failure) {
    nb::object pairs = nb::none();
    if (failure.change) pairs = nb::cast(failure.change->replacements);
    const auto& rules = self.stage->rules.rules();
    const auto rule = std::ranges::find_if(rules, [&](auto& each) { return each.get() == &failure.rule; });
    on_failure(nb::cpp_function([error = failure.error] { std::rethrow_exception(error); }), rewriter_of(*rule),
               wrap(failure.node), pairs);
  };
}

RewriteReport apply_stage(const StageObject& self, const FunctionGraphObject& object, nb::object on_failure,
                          std::optional<nb::list> nodes) {
  FunctionGraph& graph = writable_graph(object);
  RewriteReport report;
  report.time_rules = true;
  report.nodes_before = graph.node_count();
  rewriting::Session session(report);
  session.on_failure = failure_handler(self, std::move(on_failure));
  if (nodes) {
    session.nodes.emplace();
    for (nb::handle node : *nodes) session.nodes->push_back(nb::cast<Apply>(node));
  }
  rewriting::run(*self.stage, graph, session);
  report.nodes_after = graph.node_count();
  for (auto& phase : report.phases) report.seconds += phase.seconds;
  return report;
}

nb::list rewriters_of(const Stage& stage) {
  nb::list out;
  for (auto& rule : stage.rules.rules()) out.append(rewriter_of(rule));
  return out;
}

// The Python object that a function of the whole graph calls; None for one of the library's.
nb::object object_of(const GraphPass& pass) {
  auto* python = pass.target<PythonPass>();
  return python ? *python->function : nb::none();
}

nb::list objects_of(const std::vector<rewriting::NamedPass>& passes) {
  nb::list out;
  for (auto& [name, pass] : passes) out.append(nb::make_tuple(name, object_of(pass)));
  return out;
}

void bind_stages(nb::module_& m) {
  nb::class_<StageObject>(m, "RewriteStage", "Rules, or a function of the whole graph, that go over a graph.")
      .def_prop_ro("name", [](const StageObject& self) { return self.stage->name; })
      .def_prop_ro("position", [](const StageObject& self) { return self.stage->position; })
      .def_prop_ro("has_rules",
                   [](const StageObject& self) { return !self.stage->pass && !self.stage->of_inner_graphs; })
      .def_prop_ro("rules", [](const StageObject& self) { return rewriters_of(*self.stage); })
      .def_prop_ro("first", [](const StageObject& self) { return objects_of(self.stage->first); })
      .def_prop_ro("last", [](const StageObject& self) { return objects_of(self.stage->last); })
      .def_prop_ro(
          "function", [](const StageObject& self) { return object_of(self.stage->pass); },
          "The Python object that it calls, if any.")
      .def("apply", apply_stage, "fgraph"_a, "on_failure"_a = nb::none(), "nodes"_a = nb::none())
      .def(
          "at",
          [](const StageObject& self, const FunctionGraphObject& graph, const Apply& node, nb::object on_failure) {
            RewriteReport report;
            rewriting::Session session(report);
            session.on_failure = failure_handler(self, std::move(on_failure));
            return rewriting::try_at(*self.stage, writable_graph(graph), node, session);
          },
          "fgraph"_a, "node"_a, "on_failure"_a = nb::none(), "Tries the rules on one node.")
      .def("__repr__", [](const StageObject& self) {
        return cat("<RewriteStage ", self.stage->name, " at ", self.stage->position, ">");
      });
  m.def("rewrite_stage", rewrite_stage, "name"_a, "rules"_a, "order"_a = "equilibrium", "visits_new_nodes"_a = true,
        "max_use_ratio"_a = nb::none(), "first"_a = NamedFunctions(), "last"_a = NamedFunctions());
}

// ---- queries --------------------------------------------------------------------------------------------------------

// A database that is queried instead of optdb, and the function that makes a rewriter of it.
struct PythonDatabase {
  Held database, function;
  void operator()(FunctionGraph& graph, const RewriteQuery& query) const {
    nb::gil_scoped_acquire locked;
    const nb::object rewriter = (*function)(query);
    PythonPass{hold(rewriter)}(graph);
  }
};

void bind_queries(nb::module_& m) {
  using Self = RewriteQuery;
  using Texts = std::vector<std::string>;
  nb::class_<Self>(m, "RewriteQuery", "Which rewrites to apply.")
      .def(
          "__init__",
          [](Self* self, Texts include, Texts require, Texts exclude, double position_cutoff,
             const std::map<std::string, Self>& subqueries, nb::list extra,
             const std::optional<std::pair<nb::object, nb::object>>& database) {
            new (self) Self{std::move(include), std::move(require), std::move(exclude), position_cutoff};
            std::vector<ExtraRewrite> own;
            for (nb::handle pair : extra) own.push_back(extra_rewrite_of(pair));
            *self = self->registering(std::move(own));
            for (auto& [phase, query] : subqueries) self->subqueries[phase] = std::make_shared<const Self>(query);
            if (database)
              self->database = std::make_shared<const RewriteDatabase>(
                  PythonDatabase{hold(database->first), hold(database->second)});
          },
          "include"_a, "require"_a = Texts(), "exclude"_a = Texts(),
          "position_cutoff"_a = std::numeric_limits<double>::infinity(), "subqueries"_a = std::map<std::string, Self>(),
          "extra"_a = nb::list(), "database"_a = nb::none())
      .def_ro("include", &Self::include)
      .def_ro("require", &Self::require)
      .def_ro("exclude", &Self::exclude)
      .def_ro("position_cutoff", &Self::position_cutoff)
      .def_prop_ro("subqueries",
                   [](const Self& self) {
                     std::map<std::string, Self> out;
                     for (auto& [phase, query] : self.subqueries) out.emplace(phase, *query);
                     return out;
                   })
      .def_prop_ro("extra",
                   [](const Self& self) {
                     nb::list out;
                     for (auto& each : self.extra) {
                       const nb::object function = object_of(each->function);
                       out.append(nb::make_tuple(
                           function.is_none() ? nb::object(nb::str(each->name.c_str())) : function, each->position));
                     }
                     return out;
                   })
      .def_prop_ro(
          "database",
          [](const Self& self) {
            auto* python = self.database ? self.database->target<PythonDatabase>() : nullptr;
            return python ? *python->database : nb::none();
          },
          nb::sig("def database(self) -> typing.Any"), "The database that is queried; None for optdb.")
      .def("__reduce__",
           [](nb::handle object) {
             const Self& self = nb::cast<const Self&>(object);
             if (!self.extra.empty() || self.database)
               throw NotImplementedError("pickling: a query with rewrites or a database of its own can't be stored");
             return nb::make_tuple(object.type(), nb::make_tuple(self.include, self.require, self.exclude,
                                                                 self.position_cutoff, object.attr("subqueries")));
           })
      .def("__repr__", &Self::str);
  m.def("optimizer_names", &optimizer_names);
  m.def(
      "query_of_optimizer", [](const std::string& name) { return query_of(name); }, "name"_a);
  m.def(
      "register_optimizer", [](const std::string& name, const Self& query) { register_optimizer(name, query); },
      "name"_a, "query"_a);
  m.def(
      "rewrite_stages",
      [](const Self& query) {
        nb::list out;
        for (auto& stage : rewriting::stages_of(query)) out.append(StageObject{stage});
        return out;
      },
      "query"_a, "What a query selects, in order.");
}

// ---- the database ---------------------------------------------------------------------------------------------------

// A database written in Python: it is asked for what a query selects, as a Rule, a function of a graph, or None.
struct PythonSource {
  Held database, function;
  Rewrite operator()(const RewriteQuery& query) const {
    nb::gil_scoped_acquire locked;
    const nb::object made = (*function)(query);
    if (made.is_none()) return {};
    if (nb::isinstance<RuleObject>(made)) return {.rule = nb::cast<const RuleObject&>(made).rule()};
    return {.pass = PythonPass{hold(made)}};
  }
};

Role role_of(const std::string& role) {
  if (role == "first") return Role::first;
  if (role == "last") return Role::last;
  throw ValueError(cat("optdb: a role must be \"first\" or \"last\", not \"", role, "\""));
}

void add(const std::optional<std::string>& phase, const std::string& name, double position,
         std::vector<std::string> tags, const std::string& role, Member member, bool overwrite) {
  if (phase)
    OptDB::instance().add(*phase, {name, std::move(tags), std::move(member), role_of(role)},
                          rewriting::Overwrite(overwrite));
  else
    OptDB::instance().add({name, position, std::move(tags), nullptr, std::move(member)},
                          rewriting::Overwrite(overwrite));
}

// Node rewriters that are in several phases are one rule.
std::shared_ptr<const Rule> rule_in_optdb(nb::handle rewriter, const std::string& name) {
  const std::shared_ptr<const Rule> known = OptDB::instance().find_rule(name);
  return known && rewriter_of(known).is(rewriter) ? known : rule_of(rewriter, name);
}

nb::object object_of(const Member& member, const DatabaseEntry& entry) {
  if (auto* python = member.source.target<PythonSource>()) return *python->database;
  if (member.rewrite.rule) return rewriter_of(member.rewrite.rule);
  const nb::object function = object_of(member.rewrite.pass);
  if (!function.is_none()) return function;
  return nb::cast(StageObject{std::make_shared<const Stage>(
      Stage{.name = entry.name, .position = entry.position, .pass = member.rewrite.pass})});
}

nb::object optdb_member(const std::optional<std::string>& phase, const std::string& name) {
  for (auto& entry : OptDB::instance().entries()) {
    if (!phase && entry.name == name) return entry.has_rules ? nb::none() : object_of(entry.member, entry);
    if (!phase || entry.name != *phase) continue;
    for (auto& member : entry.members)
      if (member.name == name) return object_of(member.member, member);
  }
  throw KeyError(cat("optdb has no rewrite called \"", name, "\"", phase ? cat(" in ", *phase) : ""));
}

void bind_optdb(nb::module_& m) {
  using Tags = std::vector<std::string>;
  m.def(
      "optdb_add_rule",
      [](const std::string& phase, const std::string& name, nb::handle rewriter, Tags tags, bool overwrite) {
        OptDB::instance().add(phase, {name, std::move(tags), {.rewrite = {.rule = rule_in_optdb(rewriter, name)}}},
                              rewriting::Overwrite(overwrite));
      },
      "phase"_a, "name"_a, "rewriter"_a, "tags"_a, "overwrite"_a);
  m.def(
      "optdb_add_pass",
      [](const std::optional<std::string>& phase, const std::string& name, nb::object function, double position,
         Tags tags, const std::string& role, bool overwrite) {
        add(phase, name, position, std::move(tags), role, {.rewrite = {.pass = PythonPass{hold(std::move(function))}}},
            overwrite);
      },
      "phase"_a.none(), "name"_a, "function"_a, "position"_a, "tags"_a, "role"_a, "overwrite"_a);
  m.def(
      "optdb_add_database",
      [](const std::optional<std::string>& phase, const std::string& name, nb::object database, nb::object function,
         double position, Tags tags, const std::string& role, bool overwrite) {
        add(phase, name, position, std::move(tags), role,
            {.source = PythonSource{hold(std::move(database)), hold(std::move(function))}}, overwrite);
      },
      "phase"_a.none(), "name"_a, "database"_a, "function"_a, "position"_a, "tags"_a, "role"_a, "overwrite"_a);
  m.def(
      "optdb_change_tags",
      [](const std::optional<std::string>& phase, const std::string& name, const Tags& added, const Tags& removed) {
        OptDB::instance().change_tags(phase.value_or(""), name, added, removed);
      },
      "phase"_a.none(), "name"_a, "added"_a, "removed"_a);
  m.def(
      "optdb_note_tags", [](const Tags& tags) { OptDB::instance().note_tags(tags); }, "tags"_a);
  m.def(
      "optdb_entries",
      [] {
        nb::list out;
        for (auto& entry : OptDB::instance().entries())
          out.append(nb::make_tuple(entry.name, entry.position, entry.tags, entry.has_rules));
        return out;
      },
      "Name, position, tags, and whether it is a phase of rules, of all in optdb, in order.");
  m.def(
      "optdb_members",
      [](const std::string& phase) {
        nb::list out;
        for (auto& entry : OptDB::instance().entries())
          if (entry.name == phase)
            for (auto& member : entry.members) out.append(nb::make_tuple(member.name, member.tags));
        return out;
      },
      "phase"_a, "Names and tags of what is in a phase.");
  m.def("optdb_member", optdb_member, "phase"_a.none(), "name"_a);
}

}  // namespace

void bind_rewrite_databases(nb::module_& m) {
  bind_queries(m);
  bind_stages(m);
  bind_optdb(m);
}

}  // namespace bitale::python
