// FunctionGraph: import, merging, replacement with roll-back, features.
#include <doctest/doctest.h>

#include <algorithm>
#include <ctime>
#include <map>
#include <random>
#include <set>

#include "bitale/graph/features.hpp"
#include "bitale/graph/function_graph.hpp"
#include "graph/test_ops.hpp"

using namespace bitale;
using namespace bitale::testing;

namespace {

// Whether the graph computes these outputs of these inputs.
bool computes(const FunctionGraph& graph, const Variables& outputs, const Variables& inputs) {
  return equal_computations(graph.outputs(), outputs, graph.inputs(), inputs);
}

// Applies the reported changes to a copy of the structure, which can be compared with the graph.
class Mirror final : public Feature {
 public:
  std::string name() const override { return "mirror"; }
  void on_import(FunctionGraph&, const Apply& node, std::string_view) override {
    REQUIRE(inputs.emplace(node.node(), node.inputs()).second);
    ++imports;
  }
  void on_prune(FunctionGraph&, const Apply& node, std::string_view) override {
    REQUIRE(inputs.erase(node.node()) == 1);
    ++prunes;
  }
  void on_change_input(FunctionGraph&, const Client& client, const Variable& before, const Variable& after,
                       std::string_view reason) override {
    reasons.insert(std::string(reason));
    if (!client.node) return;
    Variable& slot = inputs.at(client.node)[std::size_t(client.index)];
    REQUIRE(slot.same_as(before));
    slot = after;
  }
  void on_validate(FunctionGraph&) override {
    if (refuse) throw InconsistencyError("the mirror refuses");
  }

  bool agrees(const FunctionGraph& graph) const {
    auto order = graph.toposort();
    if (order.size() != inputs.size()) return false;
    for (auto& node : order)
      if (!std::ranges::equal(inputs.at(node.node()), node.inputs(), VariableEqual())) return false;
    return true;
  }

  std::map<ApplyNode*, Variables> inputs;
  std::set<std::string> reasons;
  int imports = 0, prunes = 0;
  bool refuse = false;
};

struct Watch {
  explicit Watch(FunctionGraph& graph) : graph(graph) {
    for (auto& node : graph.toposort()) mirror->inputs.emplace(node.node(), node.inputs());
    graph.attach(mirror);
  }
  void check() const {
    graph.check_integrity();
    CHECK(mirror->agrees(graph));
  }
  FunctionGraph& graph;
  std::shared_ptr<Mirror> mirror = std::make_shared<Mirror>();
};

Variable own(const FunctionGraph& graph, const Variable& v) { return graph.originals().at(v); }

}  // namespace

TEST_CASE("a node belongs to one graph and has a slot in it") {
  Variable x = leaf("x"), a = f(x), out = g(a);
  FunctionGraph graph({x}, {out});
  const Apply first = graph.outputs()[0].owner(), second = first.input(0).owner();
  CHECK(graph.slot_count() == 2);
  CHECK(graph.at_slot(graph.slot(first.node())).same_as(first));
  CHECK(graph.slots_in_order() ==
        std::vector<std::uint32_t>{std::uint32_t(graph.slot(second.node())), std::uint32_t(graph.slot(first.node()))});
  CHECK_FALSE(graph.at_slot(7).defined());
  CHECK_THROWS_AS(graph.slot(a.node()->owner), InternalError);
  CHECK_THROWS_AS(FunctionGraph(graph.inputs(), graph.outputs(), Clone::No), ValueError);
  graph.check_integrity();
  // A removed node is free, and its slot is reused.
  graph.replace(graph.outputs()[0], g(graph.inputs()[0]), "test");
  CHECK(graph.slot_count() <= 3);
  graph.replace(graph.outputs()[0], f(graph.inputs()[0]), "test");
  CHECK(graph.slot_count() <= 3);
  graph.check_integrity();
  CHECK(graph.node_count() == 1);
  FunctionGraph source({x}, {g(f(x))}, Clone::No);
  { FunctionGraph moved = std::move(source); }
  FunctionGraph again({first.input(0).owner().input(0)}, {first.output()}, Clone::No);
  CHECK(again.node_count() == 2);
}

TEST_CASE("a function graph is a copy") {
  Variable x = leaf("x"), a = f(x), out = g(a);
  a.set_name("a");
  FunctionGraph graph({x}, {out});
  CHECK(graph.node_count() == 2);
  CHECK(computes(graph, {out}, {x}));
  CHECK_FALSE(graph.contains(a));
  CHECK(graph.contains(own(graph, a)));
  CHECK(own(graph, a).name() == "a");
  CHECK_FALSE(graph.inputs()[0].same_as(x));
  CHECK(own(graph, x).same_as(graph.inputs()[0]));
  graph.check_integrity();
  FunctionGraph same({x}, {out}, Clone::No);
  CHECK(same.contains(a));
  same.check_integrity();
}

TEST_CASE("inputs are found or must be complete") {
  Variable x = leaf("x"), y = leaf("y"), out = h(f(y), x);
  CHECK(FunctionGraph({out}).inputs().size() == 2);
  try {
    FunctionGraph({x}, {out});
    FAIL("no error");
  } catch (const MissingInputError& error) {
    CHECK(std::string(error.what()).find("`y`") != std::string::npos);
    CHECK(std::string(error.what()).find("[x]") != std::string::npos);
  }
  CHECK_THROWS_AS(FunctionGraph({x, y, x}, {out}), ValueError);
  CHECK_THROWS_AS(FunctionGraph({x, y, constant(1.)}, {out}), ValueError);
  CHECK_THROWS_AS(FunctionGraph({x, Variable()}, {out}), ValueError);
  CHECK_THROWS_AS(FunctionGraph(Variables{}, {undefined_gradient("no reason")}), TypeError);
  // An unused input is allowed; an intermediate variable as an input cuts off the graph.
  Variable a = f(x), cut = g(a);
  FunctionGraph graph({a, y}, {cut});
  CHECK(graph.node_count() == 1);
  graph.check_integrity();
  CHECK_THROWS_AS(FunctionGraph({a}, {cut}, Clone::No), ValueError);
}

TEST_CASE("equal nodes and constants are merged on import") {
  Variable x = leaf("x");
  Variable one = constant(Array{1.}), other_one = constant(Array{1.}), two = constant(Array{2.});
  Variable a = h(f(x), one), b = h(f(x), other_one), c = h(f(x), two);
  b.set_name("b");
  FunctionGraph graph({x}, {a, b, c, h(g(a), g(b))});
  CHECK(graph.node_count() == 5);
  CHECK(own(graph, a).same_as(own(graph, b)));
  CHECK(own(graph, a).name() == "b");
  CHECK_FALSE(own(graph, a).same_as(own(graph, c)));
  CHECK(graph.clients(own(graph, a)).size() == 3);
  graph.check_integrity();
}

TEST_CASE("clients") {
  Variable x = leaf("x"), a = f(x), out = h(a, a);
  FunctionGraph graph({x}, {out, a});
  Variable own_a = own(graph, a);
  CHECK(graph.clients(own_a).size() == 3);
  int as_output = 0;
  for (auto& client : graph.clients(own_a)) as_output += client.node == nullptr;
  CHECK(as_output == 1);
  CHECK(graph.clients(graph.inputs()[0]).size() == 1);
  CHECK(graph.clients(x).empty());
}

TEST_CASE("replace redirects every use and removes unused nodes") {
  Variable x = leaf("x"), a = f(g(x)), out = h(a, f(a));
  FunctionGraph graph({x}, {out, a});
  Watch watch(graph);
  CHECK(graph.replace(own(graph, a), g(graph.inputs()[0]), "test"));
  CHECK(computes(graph, {h(g(x), f(g(x))), g(x)}, {x}));
  CHECK(watch.mirror->prunes == 1);  // g(x) was there already
  CHECK(watch.mirror->imports == 0);
  CHECK(watch.mirror->reasons == std::set<std::string>{"test"});
  watch.check();
}

TEST_CASE("nodes that become equal are merged transitively") {
  Variable x = leaf("x"), y = leaf("y");
  Variable a = x, b = y;
  for (int i = 0; i < 50; ++i) a = h(f(a), x), b = h(f(b), y);
  Variable out = h(a, b);
  FunctionGraph graph({x, y}, {out, g(b)});
  Watch watch(graph);
  CHECK(graph.node_count() == 202);
  graph.replace(graph.inputs()[1], graph.inputs()[0], "same");
  CHECK(graph.node_count() == 102);
  CHECK(computes(graph, {h(a, a), g(a)}, {x, y}));
  watch.check();
}

TEST_CASE("a node that uses the replaced variable twice") {
  Variable x = leaf("x"), y = leaf("y"), a = f(x), out = h(h(a, a), h(a, y));
  FunctionGraph graph({x, y}, {out});
  Watch watch(graph);
  graph.replace(own(graph, a), graph.inputs()[1], "test");
  CHECK(computes(graph, {h(h(y, y), h(y, y))}, {x, y}));
  CHECK(graph.node_count() == 2);
  watch.check();
}

TEST_CASE("a variable may be replaced by something computed from it") {
  Variable x = leaf("x"), a = f(x), out = h(g(a), a);
  FunctionGraph graph({x}, {out});
  Watch watch(graph);
  Variable own_a = own(graph, a);
  SUBCASE("a new node") {
    graph.replace(own_a, f(own_a), "test");
    CHECK(computes(graph, {h(g(f(f(x))), f(f(x)))}, {x}));
  }
  SUBCASE("an input") {
    graph.replace(graph.inputs()[0], g(graph.inputs()[0]), "test");
    CHECK(computes(graph, {h(g(f(g(x))), f(g(x)))}, {x}));
  }
  SUBCASE("a new node that equals an existing one") {
    graph.replace(own_a, g(own_a), "test");
    CHECK(computes(graph, {h(g(f(x)), g(f(x)))}, {x}));
  }
  watch.check();
}

TEST_CASE("a circular replacement is refused and undone") {
  Variable x = leaf("x"), a = f(x), b = g(a), out = h(f(b), a);
  FunctionGraph graph({x}, {out});
  Watch watch(graph);
  Variable own_a = own(graph, a), own_b = own(graph, b);
  CHECK_THROWS_AS(graph.replace(own_a, h(own_b, own_b), "test"), InconsistencyError);
  CHECK(computes(graph, {out}, {x}));
  watch.check();
  CHECK_THROWS_AS(graph.change_node_input({own_a.node()->owner, 0}, own_b, "test"), InconsistencyError);
  CHECK_THROWS_AS(graph.change_node_input({own_a.node()->owner, 0}, f(own_b), "test"), InconsistencyError);
  CHECK(computes(graph, {out}, {x}));
  watch.check();
}

TEST_CASE("a replacement may use a later node if no cycle results") {
  Variable x = leaf("x"), early = f(x), late = chain(g(x), 30), out = h(chain(early, 10), late);
  FunctionGraph graph({x}, {out});
  Watch watch(graph);
  graph.replace(own(graph, early), g(own(graph, late)), "test");
  CHECK(computes(graph, {h(chain(g(late), 10), late)}, {x}));
  watch.check();
}

TEST_CASE("replacements are checked before anything changes") {
  Variable x = leaf("x"), a = f(x);
  FunctionGraph graph({x}, {a});
  Watch watch(graph);
  Variable own_a = own(graph, a), own_x = graph.inputs()[0];
  CHECK_THROWS_AS(graph.replace(a, own_x, "test"), ValueError);
  CHECK_THROWS_AS(graph.replace(own_a, Variable(), "test"), ValueError);
  CHECK_THROWS_AS(graph.replace(own_a, Variable(tensor_type(DType::Float32, 1)), "test"), TypeError);
  CHECK_THROWS_AS(graph.replace(own_a, g(leaf("stranger")), "test"), MissingInputError);
  CHECK_THROWS_AS(graph.replace(own_a, h(f(f(own_x)), leaf("stranger")), "test"), MissingInputError);
  CHECK_FALSE(graph.replace(own_a, own_a, "test"));
  CHECK_FALSE(graph.replace(own_a, f(own_x), "test"));  // the same after merging
  CHECK_THROWS_AS(graph.change_node_input({nullptr, 1}, own_x, "test"), IndexError);
  CHECK_THROWS_AS(graph.change_node_input({a.node()->owner, 0}, own_x, "test"), ValueError);
  CHECK(computes(graph, {a}, {x}));
  watch.check();
}

TEST_CASE("a variable may be replaced by one of a sub-type, not of a super-type") {
  Variable x = leaf("x"), p = leaf("p", {3}), a = f(x);
  FunctionGraph graph({x, p}, {g(a), f(p)});
  graph.replace(own(graph, a), graph.inputs()[1], "test");
  CHECK_THROWS_AS(graph.replace(graph.inputs()[1], graph.inputs()[0], "test"), TypeError);
  graph.check_integrity();
}

TEST_CASE("merged nodes combine their static lengths") {
  Variable x = leaf("x"), p = leaf("p", {3});
  FunctionGraph graph({x, p}, {f(x), g(f(p))});
  graph.replace(graph.inputs()[0], graph.inputs()[1], "test");
  CHECK(graph.node_count() == 2);
  CHECK(graph.outputs()[0].static_shape() == Dims{3});
  graph.check_integrity();
}

TEST_CASE("a refused change is rolled back completely") {
  Variable x = leaf("x"), y = leaf("y"), a = f(x), b = f(y), one = constant(Array{1.});
  Variable out = h(h(a, b), h(g(a), h(g(b), one)));
  FunctionGraph graph({x, y}, {out});
  Watch watch(graph);
  watch.mirror->refuse = true;
  std::size_t nodes = graph.node_count();
  Variable own_x = graph.inputs()[0], own_y = graph.inputs()[1];
  CHECK_THROWS_AS(graph.replace(own_y, own_x, "merge much"), InconsistencyError);
  CHECK(graph.node_count() == nodes);
  CHECK(computes(graph, {out}, {x, y}));
  CHECK(own(graph, b).name().empty());
  watch.check();
  std::vector<std::pair<Variable, Variable>> pairs = {{own(graph, a), g(own_y)}, {own(graph, out), own_x}};
  CHECK_THROWS_AS(graph.replace_all(pairs, "several"), InconsistencyError);
  CHECK(computes(graph, {out}, {x, y}));
  watch.check();
  watch.mirror->refuse = false;
  graph.replace_all(pairs, "several");
  CHECK(graph.outputs()[0].same_as(own_x));
  CHECK(graph.node_count() == 0);
  watch.check();
}

TEST_CASE("if one of several replacements fails, none is made") {
  Variable x = leaf("x"), a = f(x), b = g(x), out = h(a, b);
  FunctionGraph graph({x}, {out});
  Watch watch(graph);
  std::vector<std::pair<Variable, Variable>> pairs = {{own(graph, a), graph.inputs()[0]},
                                                      {own(graph, b), f(leaf("stranger"))}};
  CHECK_THROWS_AS(graph.replace_all(pairs, "test"), MissingInputError);
  CHECK(computes(graph, {out}, {x}));
  watch.check();
}

TEST_CASE("replacements of variables that an earlier one has merged or removed") {
  Variable x = leaf("x"), y = leaf("y"), a = f(x), b = f(y), out = h(g(a), g(b));
  FunctionGraph graph({x, y}, {out});
  Watch watch(graph);
  Variable own_x = graph.inputs()[0], own_y = graph.inputs()[1];
  // After the first, f(y) is f(x), so the second replaces both.
  std::vector<std::pair<Variable, Variable>> pairs = {{own_y, own_x}, {own(graph, b), own_x}};
  graph.replace_all(pairs, "test");
  CHECK(computes(graph, {h(g(x), g(x))}, {x, y}));
  watch.check();
}

TEST_CASE("several outputs") {
  Variable x = leaf("x");
  Variables both = split(x);
  FunctionGraph graph({x}, {f(both[0]), g(both[1]), both[1]});
  Watch watch(graph);
  Variable own_x = graph.inputs()[0];
  graph.replace(own(graph, both[0]), own_x, "first");
  CHECK(graph.contains(own(graph, both[0])));  // the node is still needed for its other output
  std::vector<std::pair<Variable, Variable>> pairs = {{own(graph, both[1]), f(own_x)}};
  graph.replace_all(pairs, "second");
  CHECK_FALSE(graph.contains(own(graph, both[0])));
  CHECK(computes(graph, {f(x), g(f(x)), f(x)}, {x}));
  watch.check();
}

TEST_CASE("outputs can be replaced, changed and added") {
  Variable x = leaf("x"), a = f(x);
  FunctionGraph graph({x}, {a, a});
  Variable own_x = graph.inputs()[0];
  graph.change_node_input({nullptr, 1}, own_x, "test");
  CHECK(computes(graph, {a, x}, {x}));
  graph.add_output(g(graph.outputs()[0]));
  CHECK(computes(graph, {a, x, g(a)}, {x}));
  CHECK_THROWS_AS(graph.add_output(leaf("stranger")), MissingInputError);
  CHECK(graph.outputs().size() == 3);
  graph.check_integrity();
  graph.replace(graph.outputs()[0], own_x, "test");
  CHECK(computes(graph, {x, x, g(x)}, {x}));
  graph.check_integrity();
}

TEST_CASE("inputs, outputs and nodes can be removed, and inputs added") {
  Variable x = leaf("x"), y = leaf("y"), z = leaf("z");
  FunctionGraph graph({x, y}, {f(x), h(x, y), g(f(x)), f(x)});
  const Variable own_x = graph.inputs()[0], own_y = graph.inputs()[1];
  auto mirror = std::make_shared<Mirror>();
  for (auto& node : graph.toposort()) mirror->on_import(graph, node, "");
  auto history = std::make_shared<History>();
  graph.attach(mirror);
  graph.attach(history);

  const auto start = history->checkpoint();
  graph.remove_output(1);
  CHECK(computes(graph, {f(x), g(f(x)), f(x)}, {x, y}));
  CHECK(mirror->prunes == 1);
  graph.remove_node(graph.outputs()[1].owner());
  CHECK(computes(graph, {f(x), f(x)}, {x, y}));
  graph.add_input(z);
  CHECK(graph.inputs().size() == 3);
  graph.change_node_input({nullptr, 1}, h(own_x, z), "test");
  CHECK(computes(graph, {f(x), h(x, z)}, {x, y, z}));
  graph.remove_input(1);
  graph.remove_input(1);
  CHECK(computes(graph, {f(x)}, {x}));
  CHECK(mirror->agrees(graph));
  graph.check_integrity();
  const Variable unknown = leaf("unknown");
  CHECK_THROWS_AS(graph.replace(graph.outputs()[0], g(unknown), "test"), MissingInputError);
  CHECK(graph.inputs().size() == 1);
  graph.replace(graph.outputs()[0], g(unknown), "test", UnknownLeaves::add);
  CHECK(computes(graph, {g(unknown)}, {x, unknown}));
  graph.add_output(f(leaf("another")), "test", UnknownLeaves::add);
  CHECK(graph.inputs().size() == 3);
  CHECK(mirror->agrees(graph));
  graph.check_integrity();

  CHECK_THROWS_AS(graph.remove_output(2), IndexError);
  CHECK_THROWS_AS(graph.remove_input(3), IndexError);
  CHECK_THROWS_AS(graph.remove_node(f(x).owner()), ValueError);
  CHECK_THROWS_AS(graph.add_input(own_x), ValueError);
  CHECK_THROWS_AS(graph.add_input(graph.outputs()[0]), ValueError);
  mirror->refuse = true;
  CHECK_THROWS_AS(graph.remove_input(1), InconsistencyError);
  CHECK(graph.inputs().size() == 3);
  CHECK(graph.outputs().size() == 2);
  CHECK(mirror->agrees(graph));
  graph.check_integrity();
  mirror->refuse = false;

  history->revert(graph, start);
  CHECK(computes(graph, {f(x), h(x, y), g(f(x)), f(x)}, {x, y}));
  CHECK(graph.inputs()[1].same_as(own_y));
  CHECK(mirror->agrees(graph));
  graph.check_integrity();
}

TEST_CASE("replacements inherit names and provenance") {
  Variable x = leaf("x"), a, out;
  {
    LocationScope here(Location::interned("model.py", 3, "f"));
    a = f(x);
    a.set_name("loss");
    out = g(a);
  }
  FunctionGraph graph({x}, {out});
  Variable own_x = graph.inputs()[0], replacement;
  {
    RuleScope rule("two for one");
    replacement = g(g(own_x));
  }
  graph.replace(own(graph, a), replacement, "test");
  CHECK(replacement.name() == "loss");
  CHECK(replacement.where().line == 3);
  CHECK(replacement.owner().input(0).where().line == 3);
  CHECK(std::string(replacement.owner().provenance().rule) == "two for one");
  graph.replace(replacement, own_x, "test");
  CHECK(own_x.name() == "x");
}

TEST_CASE("toposort respects the orderings of features") {
  class Orders final : public Feature {
   public:
    std::string name() const override { return "orders"; }
    std::vector<std::pair<ApplyNode*, ApplyNode*>> orderings(FunctionGraph&) override { return pairs; }
    std::vector<std::pair<ApplyNode*, ApplyNode*>> pairs;
  };
  Variable x = leaf("x"), a = f(x), b = g(x), out = h(a, b);
  FunctionGraph graph({x}, {out});
  ApplyNode *first = own(graph, a).node()->owner, *second = own(graph, b).node()->owner;
  CHECK(graph.toposort()[0].node() == first);
  auto orders = std::make_shared<Orders>();
  graph.attach(orders);
  orders->pairs = {{first, second}};
  CHECK(graph.toposort()[0].node() == second);
  CHECK(graph.toposort().size() == 3);
  orders->pairs = {{first, second}, {second, first}};
  CHECK_THROWS_AS(graph.toposort(), InconsistencyError);
  CHECK_THROWS_AS(graph.attach(orders), ValueError);
  CHECK(graph.feature<Orders>() == orders.get());
  CHECK(graph.feature<Mirror>() == nullptr);
  graph.detach(*orders);
  CHECK_THROWS_AS(graph.detach(*orders), ValueError);
  CHECK(graph.toposort().size() == 3);
}

TEST_CASE("clone and move") {
  Variable x = leaf("x"), out = h(f(x), f(x));
  FunctionGraph graph({x}, {out});
  FunctionGraph copy = graph.clone();
  copy.replace(copy.outputs()[0], copy.inputs()[0], "test");
  CHECK(computes(graph, {out}, {x}));
  CHECK(copy.node_count() == 0);
  Watch watch(graph);
  FunctionGraph moved = std::move(graph);
  moved.replace(moved.outputs()[0], f(moved.inputs()[0]), "test");
  CHECK(computes(moved, {f(x)}, {x}));
  CHECK(watch.mirror->agrees(moved));
}

TEST_CASE("random changes preserve the invariants") {
  std::mt19937 random(7);
  auto pick = [&](std::size_t n) { return std::size_t(random() % n); };
  for (int round = 0; round < 30; ++round) {
    Variables pool = {leaf("x", {1}), leaf("y", {1}), constant(Array{1.})}, inputs = {pool[0], pool[1]};
    for (int i = 0; i < 40; ++i) {
      Variable a = pool[pick(pool.size())], b = pool[pick(pool.size())];
      switch (pick(4)) {
        case 0: pool.push_back(f(a)); break;
        case 1: pool.push_back(g(a)); break;
        case 2: pool.push_back(h(a, b)); break;
        default: pool.push_back(split(a)[pick(2)]);
      }
    }
    FunctionGraph graph(inputs, {pool.back(), pool[20], pool[30]});
    Watch watch(graph);
    for (int i = 0; i < 30; ++i) {
      auto order = graph.toposort();
      if (order.empty()) break;
      Apply node = order[pick(order.size())], other = order[pick(order.size())];
      Variable before = node.output(int(pick(node.output_count())));
      Variable used = other.output(int(pick(other.output_count())));
      Variable after =
          std::array{used, f(used), h(used, f(before)), node.input(0), h(constant(Array{1.}), used)}[pick(5)];
      watch.mirror->refuse = pick(4) == 0;
      Variables outputs = graph.outputs();
      VariableMap memo;
      Variables as_before = clone(outputs, memo);
      try {
        graph.replace(before, after, "random");
      } catch (const InconsistencyError&) {
        CHECK(equal_computations(graph.outputs(), as_before));
        REQUIRE(std::ranges::equal(graph.outputs(), outputs, VariableEqual()));
      }
      watch.check();
    }
  }
}

TEST_CASE("a million nodes are imported and destroyed") {
  Variable x = leaf("x");
  FunctionGraph graph({x}, {chain(x, 1'000'000)});
  CHECK(graph.node_count() == 1'000'000);
  CHECK(graph.toposort().size() == 1'000'000);
}

TEST_CASE("a hundred thousand replacements take about linear time") {
  auto seconds_for = [](int length, bool forwards, auto&& replacement) {
    Variable x = leaf("x"), c = constant(Array{1.}), out = x;
    for (int i = 0; i < length; ++i) out = h(out, c);
    FunctionGraph graph({x}, {out});
    std::clock_t start = std::clock();  // processor time, since the machine may be busy
    auto order = graph.toposort();
    if (!forwards) std::ranges::reverse(order);
    for (auto& node : order)
      if (graph.contains(node)) graph.replace(node.output(), replacement(node.input(0), node.input(1)), "test");
    double seconds = double(std::clock() - start) / CLOCKS_PER_SEC;
    graph.check_integrity();
    return seconds;
  };
  auto longer = [](const Variable& a, const Variable& c) { return g(f(h(c, a))); };
  auto shorter = [](const Variable& a, const Variable&) { return a; };
  auto with_constant = [](const Variable& a, const Variable&) { return h(f(a), constant(Array{2.})); };
  // Quadratic work would take minutes.
  CHECK(seconds_for(100'000, true, longer) < 30);
  CHECK(seconds_for(100'000, false, with_constant) < 30);
  CHECK(seconds_for(100'000, false, shorter) < 30);
}
