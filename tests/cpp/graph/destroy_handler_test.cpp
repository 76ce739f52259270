// DestroyHandler and Supervisor: which graphs are consistent, and in which order their nodes run.
#include <doctest/doctest.h>

#include <algorithm>

#include "bitale/graph/features.hpp"
#include "graph/aliasing.hpp"
#include "graph/test_ops.hpp"

using namespace bitale;
using namespace bitale::testing;

namespace {

// Negates its first input in place; further inputs are only read.
class Over final : public Op {
 public:
  std::string_view name() const override { return "Over"; }
  Apply make_node(std::span<const Variable> inputs) const override {
    return Apply(OpRef(this), Variables(inputs.begin(), inputs.end()), {inputs[0].type()});
  }
  void perform(const Apply&, std::span<const Array> in, std::span<Array> out) const override {
    for (std::int64_t i = 0; i < in[0].size(); ++i) in[0].mutable_data_as<double>()[i] *= -1;
    out[0] = in[0];
  }
  std::vector<int> destroys(const Apply&, int) const override { return {0}; }
};

// The first output is a view of the first input; the second may be a view of any input.
class View final : public Op {
 public:
  std::string_view name() const override { return "View"; }
  Apply make_node(std::span<const Variable> inputs) const override {
    return Apply(OpRef(this), Variables(inputs.begin(), inputs.end()), {inputs[0].type(), inputs[0].type()});
  }
  void perform(const Apply&, std::span<const Array> in, std::span<Array> out) const override {
    out[0] = in[0];
    out[1] = in[0];
  }
  std::vector<int> view_of(const Apply& node, int output) const override {
    return output == 0 || node.inputs().size() == 1 ? std::vector<int>{0} : std::vector<int>{0, 1};
  }
};

Variable over(const Variables& inputs) { return make_ref<Over>()->make_node(inputs).output(); }
Variable over(const Variable& x) { return over(Variables{x}); }
Variable view(const Variable& x) { return make_ref<View>()->make_node({&x, 1}).output(); }
Variable either(const Variable& x, const Variable& y) {
  const Variable inputs[] = {x, y};
  return make_ref<View>()->make_node(inputs).output(1);
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// The error of attaching a destroy handler, or "" if the graph is consistent.
std::string inconsistency(FunctionGraph& graph) {
  try {
    graph.attach(std::make_shared<DestroyHandler>());
  } catch (const InconsistencyError& error) {
    CHECK(graph.features().empty());
    return error.what();
  }
  return {};
}
std::string inconsistency(const Variables& inputs, const Variables& outputs) {
  FunctionGraph graph(inputs, outputs);
  return inconsistency(graph);
}

std::size_t position(const FunctionGraph& graph, const Variable& original) {
  const Apply node = graph.originals().at(original).owner();
  const auto order = graph.toposort();
  return std::size_t(std::find_if(order.begin(), order.end(), [&](auto& n) { return n.same_as(node); }) -
                     order.begin());
}

}  // namespace

TEST_CASE("readers of a variable run before the node that destroys it") {
  Variable x = leaf("x"), a = f(x);
  const Variable destroyed = over(a), reader = g(a), through_view = g(view(view(a)));
  // For each order of the outputs.
  Variables outputs = {destroyed, reader, through_view};
  for (int turn = 0; turn < 3; ++turn) {
    std::rotate(outputs.begin(), outputs.begin() + 1, outputs.end());
    FunctionGraph graph({x}, outputs);
    REQUIRE(inconsistency(graph) == "");
    CHECK(graph.toposort().size() == graph.node_count());
    CHECK(position(graph, reader) < position(graph, destroyed));
    CHECK(position(graph, through_view) < position(graph, destroyed));
    auto* handler = graph.feature<DestroyHandler>();
    CHECK(handler->has_destroyers());
    CHECK(handler->destroyers(graph.originals().at(a)).size() == 1);
    CHECK(handler->destroyers(graph.inputs()[0]).empty());
  }
}

TEST_CASE("chains of destroyers") {
  Variable x = leaf("x"), a = f(x);
  CHECK(inconsistency({x}, {over(over(over(a)))}) == "");
  CHECK(inconsistency({x}, {over(view(over(view(a))))}) == "");
  // The result of the first destroyer is read before the second one runs.
  const Variable once = over(a);
  FunctionGraph graph({x}, {over(once), g(once)});
  CHECK(inconsistency(graph) == "");
}

TEST_CASE("inconsistent graphs are refused with the reason") {
  Variable x = leaf("x"), y = leaf("y"), a = f(x), b = g(y);
  const Variable one = constant(Array{1., 2.});
  CHECK(contains(inconsistency({x}, {over(one)}), "is a constant"));
  CHECK(contains(inconsistency({x}, {over(view(one))}), "is a constant"));
  CHECK(contains(inconsistency({x}, {over(a), a}), "output 1 of the graph"));
  CHECK(contains(inconsistency({x}, {over(a), view(a)}), "output 1 of the graph"));
  CHECK(contains(inconsistency({x, y}, {over(a), over({view(a), y})}), "which Over destroys"));
  CHECK(contains(inconsistency({x}, {over({a, a})}), "it also reads as its input 1"));
  CHECK(contains(inconsistency({x}, {over({a, view(a)})}), "it also reads as its input 1"));
  CHECK(contains(inconsistency({x, y}, {h(over(a), a)}), "can only run after it"));
  CHECK(contains(inconsistency({x, y}, {h(g(over(a)), view(a))}), "can only run after it"));
  // Two destroyers, each of which reads what the other destroys.
  CHECK(inconsistency({x, y}, {over({a, b}), over({b, a})}) != "");
  // A view of either of two variables: nothing else may read them later.
  CHECK(inconsistency({x, y}, {over(either(a, b))}) == "");
  CHECK(contains(inconsistency({x, y}, {over(either(a, b)), b}), "output 1 of the graph"));
  CHECK(inconsistency({x}, {over(x)}) == "");  // the Supervisor decides whether inputs may be destroyed
}

TEST_CASE("an inconsistent replacement is rolled back with the reason") {
  Variable x = leaf("x"), a, reader;
  {
    LocationScope here(Location::interned("model.py", 5, "f"));
    a = f(x);
    reader = h(g(a), a);
  }
  FunctionGraph graph({x}, {reader});
  graph.attach(std::make_shared<DestroyHandler>());
  const Variable own_a = graph.originals().at(a), own_x = graph.inputs()[0];
  const Variable before = graph.outputs()[0].owner().input(0);
  std::string text;
  try {
    graph.replace(before, over(own_a), "my_inplace");
  } catch (const InconsistencyError& error) {
    text = error.what();
  }
  for (auto part : {"can only run after it", "destroy handler", "my_inplace", "model.py:5"})
    CHECK_MESSAGE(contains(text, part), text);
  CHECK(graph.node_count() == 3);
  CHECK_FALSE(graph.feature<DestroyHandler>()->has_destroyers());
  graph.check_integrity();
  // If nothing else reads a, it may be destroyed.
  graph.replace(graph.outputs()[0], g(own_a), "test");
  CHECK(graph.replace(graph.outputs()[0], over(own_a), "my_inplace"));
  CHECK(graph.feature<DestroyHandler>()->has_destroyers());
  // Now a can't become an output.
  CHECK_THROWS_AS(graph.add_output(own_a), InconsistencyError);
  CHECK(graph.outputs().size() == 1);
  CHECK(graph.replace(graph.outputs()[0], f(own_x), "test"));
  CHECK_FALSE(graph.feature<DestroyHandler>()->has_destroyers());
  graph.check_integrity();
}

TEST_CASE("the Supervisor protects inputs") {
  Variable x = leaf("x"), y = leaf("y");
  FunctionGraph graph({x, y}, {h(f(x), g(y))});
  graph.attach(std::make_shared<DestroyHandler>());
  graph.attach(std::make_shared<Supervisor>(Variables{graph.inputs()[0]}));
  const Variable own_x = graph.inputs()[0], own_y = graph.inputs()[1];
  auto replaced = [&](const Variable& by) {
    try {
      graph.replace(graph.outputs()[0], by, "test");
      return std::string();
    } catch (const InconsistencyError& error) {
      return std::string(error.what());
    }
  };
  CHECK(contains(replaced(over(own_x)), "`x`, which is protected"));
  CHECK(contains(replaced(over(view(own_x))), "`x`, which is protected"));
  CHECK(replaced(over(f(own_x))) == "");
  CHECK(replaced(over({own_y, own_x})) == "");
  graph.check_integrity();
}

TEST_CASE("outputs that must not be in-place results") {
  Variable x = leaf("x");
  FunctionGraph graph({x}, {f(x), g(x)});
  const Variable own_x = graph.inputs()[0];
  graph.attach(std::make_shared<NoOutputFromInplace>(std::vector<std::size_t>{1}));
  CHECK(graph.replace(graph.outputs()[0], over(f(own_x)), "test"));
  CHECK_THROWS_AS(graph.replace(graph.outputs()[1], over(g(own_x)), "test"), InconsistencyError);
  CHECK_THROWS_AS(graph.replace(graph.outputs()[1], view(over(g(own_x))), "test"), InconsistencyError);
  graph.attach(std::make_shared<NoOutputInplaceOnInput>(std::vector<std::size_t>{0}));
  CHECK_THROWS_AS(graph.replace(graph.outputs()[0], over(view(over(own_x))), "test"), InconsistencyError);
  CHECK(graph.replace(graph.outputs()[0], f(over(own_x)), "test"));
  FunctionGraph other({x}, {f(x)});
  CHECK_THROWS_AS(other.attach(std::make_shared<NoOutputFromInplace>(std::vector<std::size_t>{1})), IndexError);
  CHECK_THROWS_AS(other.attach(std::make_shared<NoOutputInplaceOnInput>(std::vector<std::size_t>{1})), IndexError);
  CHECK(other.features().empty());
}

TEST_CASE("aliasing along an order: which inputs a node may destroy") {
  Variable x = leaf("x"), a = f(x), b = g(a), c = view(a), d = h(c, b), e = h(d, d);
  FunctionGraph graph({x}, {e});
  const auto order = graph.toposort();
  const Aliasing aliasing(graph, order);
  auto may = [&](const Variable& original, int input) {
    return aliasing.may_destroy(position(graph, original), input);
  };
  CHECK_FALSE(may(a, 0));  // an input
  CHECK_FALSE(may(b, 0));  // a is read later, through its view
  CHECK(may(d, 0));        // the last read of the memory of the view
  CHECK(may(d, 1));
  CHECK_FALSE(may(e, 0));  // e reads it as its other input too
}

TEST_CASE("a chain of 100,000 destroyers") {
  Variable x = leaf("x"), v = f(x);
  const OpRef op = make_ref<Over>();
  for (int i = 0; i < 100000; ++i) v = (*op)({v});
  FunctionGraph graph({x}, {v});
  CHECK(inconsistency(graph) == "");
  CHECK(graph.toposort().size() == 100001);
}
