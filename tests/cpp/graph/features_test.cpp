// Features: histories, validators, listeners, and failures of callbacks.
#include "bitale/graph/features.hpp"

#include <doctest/doctest.h>

#include <random>

#include "graph/test_ops.hpp"

using namespace bitale;
using namespace bitale::testing;

namespace {

Variable own(const FunctionGraph& graph, const Variable& v) { return graph.originals().at(v); }

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

template <class E, class Action>
std::string message_of(Action&& action) {
  try {
    action();
  } catch (const E& error) {
    return error.what();
  }
  return "no error";
}

// A copy of what a graph computes, independent of later changes of the graph.
struct Snapshot {
  explicit Snapshot(const FunctionGraph& graph) {
    VariableMap memo;
    outputs = clone(graph.outputs(), memo);
  }
  bool is_of(const FunctionGraph& graph) const {
    return equal_computations(graph.outputs(), outputs, graph.inputs(), graph.inputs());
  }
  Variables outputs;
};

// Replaces a variable by another one of the graph or by a new node. Returns whether anything changed.
bool change_at_random(FunctionGraph& graph, std::mt19937& random) {
  auto pick = [&](std::size_t n) { return std::size_t(random() % n); };
  const auto order = graph.toposort();
  if (order.empty()) return false;
  const Apply node = order[pick(order.size())], other = order[pick(order.size())];
  const Variable before = node.output(int(pick(node.output_count()))), used = other.output();
  const Variable input = graph.inputs()[pick(graph.inputs().size())];
  const Variable choices[] = {used, input, f(used), h(used, before), h(g(input), constant(Array{2.}))};
  try {
    return graph.replace(before, choices[pick(5)], "random");
  } catch (const InconsistencyError&) {
    return false;  // circular
  }
}

FunctionGraph random_graph(std::mt19937& random) {
  auto pick = [&](std::size_t n) { return std::size_t(random() % n); };
  Variables pool = {leaf("x", {1}), leaf("y", {1}), constant(Array{1.})};
  const Variables inputs = {pool[0], pool[1]};
  for (int i = 0; i < 40; ++i) {
    const Variable a = pool[pick(pool.size())], b = pool[pick(pool.size())];
    pool.push_back(pick(2) ? h(a, b) : pick(2) ? f(a) : split(a)[pick(2)]);
  }
  return FunctionGraph(inputs, {pool.back(), pool[20], pool[30]});
}

// Records the reported changes, and compares the record with the graph.
class Books final : public Bookkeeper {
 public:
  std::string name() const override { return "books"; }
  void on_import(FunctionGraph&, const Apply& node, std::string_view) override {
    CHECK(known.emplace(node.node(), node.inputs()).second);
  }
  void on_prune(FunctionGraph&, const Apply& node, std::string_view) override { CHECK(known.erase(node.node()) == 1); }
  void on_change_input(FunctionGraph&, const Client& client, const Variable& before, const Variable& after,
                       std::string_view) override {
    if (!client.node) return;
    Variable& slot = known.at(client.node)[std::size_t(client.index)];
    CHECK(slot.same_as(before));
    slot = after;
  }
  void check(const FunctionGraph& graph) const {
    graph.check_integrity();
    CHECK(known.size() == graph.node_count());
    for (auto& node : graph.toposort())
      CHECK(std::ranges::equal(known.at(node.node()), node.inputs(), VariableEqual()));
  }
  std::unordered_map<ApplyNode*, Variables> known;
};

class Failing final : public Feature {
 public:
  std::string name() const override { return "failing"; }
  void on_import(FunctionGraph&, const Apply&, std::string_view) override { fail("import"); }
  void on_prune(FunctionGraph&, const Apply&, std::string_view) override { fail("prune"); }
  void on_change_input(FunctionGraph&, const Client&, const Variable&, const Variable&, std::string_view) override {
    fail("change");
  }
  void on_validate(FunctionGraph&) override { fail("validate"); }
  void fail(const std::string& where) {
    if (where == at) throw std::runtime_error("it fails at " + where);
  }
  std::string at;
};

}  // namespace

TEST_CASE("a history reverts to its checkpoints") {
  Variable x = leaf("x"), a = f(x), out = g(h(a, x));
  a.set_name("a");
  FunctionGraph graph({x}, {out, a});
  const Snapshot first(graph);
  auto history = std::make_shared<History>();
  auto books = std::make_shared<Books>();
  graph.attach(history);
  graph.attach(books);
  const Variable own_x = graph.inputs()[0];
  const std::size_t start = history->checkpoint();
  graph.replace(own(graph, a), g(own_x), "one");
  const Snapshot second(graph);
  const std::size_t middle = history->checkpoint();
  graph.replace(graph.outputs()[0], own_x, "two");
  graph.add_output(h(own_x, own_x));
  history->revert(graph, middle);
  CHECK(second.is_of(graph));
  books->check(graph);
  graph.replace(graph.outputs()[0], f(own_x), "three");
  history->revert(graph, start);
  CHECK(first.is_of(graph));
  CHECK(graph.outputs()[1].name() == "a");
  books->check(graph);
  history->revert(graph, start);
  CHECK(contains(message_of<ValueError>([&] { history->revert(graph, 7); }), "checkpoint 7"));
  // Reverted changes cannot be restored.
  graph.replace(graph.outputs()[1], own_x, "four");
  books->check(graph);
}

TEST_CASE("a full history goes in both directions") {
  std::mt19937 random(11);
  for (int round = 0; round < 20; ++round) {
    FunctionGraph graph = random_graph(random);
    int steps = 0;
    auto full_history = std::make_shared<FullHistory>([&](FunctionGraph&) { ++steps; });
    auto books = std::make_shared<Books>();
    graph.attach(full_history);
    graph.attach(books);
    std::vector<Snapshot> states{Snapshot(graph)};
    for (int i = 0; i < 25; ++i) {
      change_at_random(graph, random);
      while (states.size() <= full_history->last()) states.emplace_back(graph);
    }
    REQUIRE(full_history->position() == full_history->last());
    const std::size_t last = full_history->last();
    while (full_history->previous(graph)) {
      REQUIRE(states[full_history->position()].is_of(graph));
      books->check(graph);
    }
    CHECK(full_history->position() == 0);
    for (int i = 0; i < 10; ++i) {
      full_history->go_to(graph, random() % (last + 1));
      REQUIRE(states[full_history->position()].is_of(graph));
      books->check(graph);
    }
    full_history->end(graph);
    CHECK(states.back().is_of(graph));
    CHECK(steps > 0);
    CHECK_FALSE(full_history->next(graph));
    if (last == 0) continue;
    CHECK(full_history->reason(last) == "random");
    // A change at an earlier position discards the later ones.
    full_history->start(graph);
    graph.add_output(f(f(graph.inputs()[0])));
    CHECK(full_history->last() == 1);
    CHECK(full_history->reason(1) == "new output");
    full_history->previous(graph);
    CHECK(states[0].is_of(graph));
    CHECK(full_history->next(graph));
    books->check(graph);
    CHECK_THROWS_AS(full_history->go_to(graph, 2), IndexError);
    CHECK_THROWS_AS(full_history->reason(0), IndexError);
  }
}

TEST_CASE("a history can only undo the latest change") {
  Variable x = leaf("x");
  FunctionGraph graph({x}, {g(f(x))});
  auto history = std::make_shared<History>();
  auto full_history = std::make_shared<FullHistory>();
  graph.attach(history);
  graph.attach(full_history);
  graph.replace(graph.outputs()[0], f(graph.inputs()[0]), "one");
  full_history->previous(graph);
  CHECK(contains(message_of<InconsistencyError>([&] { history->revert(graph, 0); }), "`one`"));
  full_history->next(graph);
  history->revert(graph, 0);
  CHECK(graph.node_count() == 2);
  graph.check_integrity();
}

TEST_CASE("a failing feature undoes the change, which is reported to the features that knew of it") {
  for (const std::string at : {"import", "prune", "change", "validate"}) {
    INFO(at);
    std::mt19937 random(3);
    FunctionGraph graph = random_graph(random);
    auto earlier = std::make_shared<Books>();
    auto failing = std::make_shared<Failing>();
    graph.attach(earlier);
    graph.attach(failing);
    // One bookkeeper is notified before the failing feature, the other after it.
    auto callbacks = std::make_shared<Books>();
    DispatchingFeature::Callbacks forward;
    forward.on_import = [&](auto& g, auto& node, auto reason) { callbacks->on_import(g, node, reason); };
    forward.on_prune = [&](auto& g, auto& node, auto reason) { callbacks->on_prune(g, node, reason); };
    forward.on_change_input = [&](auto& g, auto& client, auto& before, auto& after, auto reason) {
      callbacks->on_change_input(g, client, before, after, reason);
    };
    callbacks->Bookkeeper::on_attach(graph);
    graph.attach(std::make_shared<DispatchingFeature>(forward));
    failing->at = at;
    int failures = 0;
    for (int i = 0; i < 30; ++i) {
      const Snapshot before(graph);
      try {
        change_at_random(graph, random);
      } catch (const std::runtime_error& error) {
        ++failures;
        CHECK(contains(error.what(), "it fails at " + at));
        REQUIRE(before.is_of(graph));
      }
      earlier->check(graph);
      callbacks->check(graph);
    }
    CHECK(failures > 0);
  }
}

TEST_CASE("an error of validation names the feature, the check, the change and the line") {
  Variable x = leaf("x"), out;
  {
    LocationScope here(Location::interned("model.py", 7, "f"));
    out = f(g(x));
  }
  FunctionGraph graph({x}, {out});
  auto validator = std::make_shared<Validator>();
  graph.attach(validator);
  validator->add("small", [](FunctionGraph& g) {
    if (g.node_count() > 2) throw InconsistencyError("too many nodes");
  });
  CHECK_THROWS_AS(validator->add("small", {}), ValueError);
  CHECK(is_consistent(graph));
  const Variable own_x = graph.inputs()[0];
  const std::string text =
      message_of<InconsistencyError>([&] { graph.replace(graph.outputs()[0], f(g(f(own_x))), "my_rule"); });
  for (auto part : {"too many nodes", "small", "validator", "my_rule", "model.py:7"}) CHECK(contains(text, part));
  CHECK(graph.node_count() == 2);
  graph.check_integrity();
  graph.detach(*validator);
  graph.replace(graph.outputs()[0], f(g(f(own_x))), "my_rule");
  graph.attach(validator);
  CHECK_FALSE(is_consistent(graph));
  CHECK(contains(message_of<InconsistencyError>([&] { validate(graph); }), "validator"));
}

TEST_CASE("features may not change the graph in a callback") {
  Variable x = leaf("x");
  FunctionGraph graph({x}, {f(g(x))});
  DispatchingFeature::Callbacks callbacks;
  std::function<void(FunctionGraph&)> action;
  callbacks.on_validate = [&](FunctionGraph& g) { action(g); };
  auto feature = std::make_shared<DispatchingFeature>(callbacks, "meddler");
  graph.attach(feature);
  const Variable own_x = graph.inputs()[0];
  const std::function<void(FunctionGraph&)> actions[] = {
      [&](FunctionGraph& g) { g.replace(g.outputs()[0], own_x, "nested"); },
      [&](FunctionGraph& g) { g.detach(*feature); },
      [&](FunctionGraph& g) { g.attach(std::make_shared<NodeFinder>()); }};
  for (auto& each : actions) {
    action = each;
    const std::string text = message_of<InternalError>([&] { graph.replace(graph.outputs()[0], g(own_x), "outer"); });
    CHECK(contains(text, "meddler"));
    CHECK(graph.node_count() == 2);
    graph.check_integrity();
  }
}

TEST_CASE("replace_all_validate_remove") {
  Variable x = leaf("x"), a = f(x);
  FunctionGraph graph({x}, {g(a), h(a, x)});
  const Apply node = own(graph, a).owner();
  const Client use = graph.clients(own(graph, a))[0];
  const Variable user = use.node ? Variable::of(&use.node->outputs[0]) : Variable();
  const std::pair<Variable, Variable> one[] = {{user, graph.inputs()[0]}};
  CHECK_THROWS_AS(replace_all_validate_remove(graph, one, {&node, 1}, "test"), ReplacementDidNotRemoveError);
  CHECK(graph.node_count() == 3);
  CHECK(graph.features().empty());
  const std::pair<Variable, Variable> all[] = {{own(graph, a), graph.inputs()[0]}};
  CHECK(replace_all_validate_remove(graph, all, {&node, 1}, "test"));
  CHECK_FALSE(graph.contains(node));
  CHECK(replace_validate(graph, graph.outputs()[0], graph.inputs()[0], "test"));
  graph.check_integrity();
}

TEST_CASE("NodeFinder, ChangeTracker and PrintListener") {
  Variable x = leaf("x");
  FunctionGraph graph({x}, {h(f(g(x)), f(x))});
  auto finder = std::make_shared<NodeFinder>();
  auto tracker = std::make_shared<ChangeTracker>();
  std::vector<std::string> lines;
  graph.attach(finder);
  graph.attach(tracker);
  graph.attach(std::make_shared<PrintListener>([&](auto& line) { lines.push_back(line); }));
  CHECK(finder->query(graph.outputs()[0].owner().op()).size() == 1);
  CHECK(finder->query("Sum").size() == 4);
  CHECK(finder->query("Split").empty());
  CHECK_FALSE(tracker->changed());
  const Variable own_x = graph.inputs()[0];
  graph.replace(graph.outputs()[0], split(own_x)[0], "test");
  CHECK(tracker->changed());
  CHECK(tracker->imported() == 1);
  tracker->reset();
  CHECK_FALSE(tracker->changed());
  CHECK(finder->query("Sum").empty());
  CHECK(finder->query("Split").size() == 1);
  CHECK(contains(lines.at(0), "attaching"));
  CHECK(contains(lines.at(1), "importing: Split, reason: test"));
  CHECK(contains(lines.at(2), "changing: output 0"));
  CHECK(contains(lines.back(), "pruning"));
  CHECK_THROWS_AS(graph.attach(std::make_shared<NodeFinder>()), AlreadyThere);
}

TEST_CASE("CheckStackTrace") {
  Variable x = leaf("x"), out;
  {
    LocationScope here(Location::interned("model.py", 7, "f"));
    out = f(x);
  }
  FunctionGraph graph({x}, {out});
  auto traces = std::make_shared<CheckStackTrace>();
  graph.attach(traces);
  const Variable own_x = graph.inputs()[0];
  CHECK(graph.replace(graph.outputs()[0], g(own_x), "inherits"));
  CHECK(graph.outputs()[0].where().line == 7);
  CHECK(contains(message_of<InconsistencyError>([&] { graph.add_output(g(g(own_x))); }), "check stack trace"));
  CHECK(traces->missing() == 1);
  CHECK(graph.node_count() == 1);
}

TEST_CASE("the replacement of a variable with one use takes its name") {
  Variable x = leaf("x"), a = f(x), b = g(x);
  a.set_name("a");
  b.set_name("b");
  FunctionGraph graph({x}, {h(a, b), f(b)});
  const Variable own_x = graph.inputs()[0];
  ApplyNode* node = graph.outputs()[0].node()->owner;
  const Variable first = g(f(own_x)), second = g(g(own_x));
  graph.change_node_input({node, 0}, first, "test");
  CHECK(first.name() == "a");
  graph.change_node_input({node, 1}, second, "test");
  CHECK(second.name().empty());
  graph.check_integrity();
}
