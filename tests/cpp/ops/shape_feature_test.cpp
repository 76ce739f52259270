// ShapeFeature: lengths as expressions of the lengths of inputs, updated after changes.
#include "bitale/ops/shape_feature.hpp"

#include <doctest/doctest.h>

#include "bitale/ops/ops.hpp"
#include "graph/evaluate.hpp"

using namespace bitale;

TEST_CASE("lengths are inferred from the lengths of inputs") {
  auto x = matrix("x"), y = vector("y");
  const Variable product = dot(x, y), out = exp(product) + sum(x, Axes{{1}});
  FunctionGraph graph({x, y}, {out, transpose(x)});
  auto shapes = std::make_shared<ShapeFeature>();
  graph.attach(shapes);
  const Variable own_x = graph.inputs()[0];
  CHECK(shapes->shape_of(graph, graph.outputs()[0]).size() == 1);
  const Variable length = shapes->get_shape(graph, graph.outputs()[0], 0);
  CHECK_FALSE(depends_on(length, std::vector<Variable>{graph.outputs()[0]}));  // without computing the output
  const Array value{{1., 2., 3.}, {4., 5., 6.}};
  CHECK(evaluate(length, graph.inputs(), std::vector<Array>{value, Array{1., 1., 1.}}).int_item() == 2);
  CHECK(shapes->same_shape(graph, graph.outputs()[0], own_x, 0, 0));
  CHECK(shapes->same_shape(graph, graph.outputs()[1], own_x, -1, 0));
  CHECK_FALSE(shapes->same_shape(graph, graph.outputs()[1], own_x));
  CHECK_FALSE(shapes->same_shape(graph, graph.outputs()[0], own_x));
  CHECK_THROWS_AS(shapes->get_shape(graph, own_x, 2), IndexError);
  CHECK_THROWS_AS(shapes->get_shape(graph, own_x, -3), IndexError);
  CHECK_THROWS_AS(shapes->shape_of(graph, x), ValueError);
  CHECK_THROWS_AS(shapes->same_shape(graph, own_x, own_x, 0), ValueError);
}

TEST_CASE("lengths that a change invalidates are inferred again") {
  auto x = vector("x"), y = vector("y");
  const Variable middle = exp(x), out = sqrt(sin(middle));
  FunctionGraph graph({x, y}, {out, middle});
  auto shapes = std::make_shared<ShapeFeature>();
  graph.attach(shapes);
  const Variable own_x = graph.inputs()[0], own_y = graph.inputs()[1];
  CHECK(shapes->same_shape(graph, graph.outputs()[0], own_x));
  graph.replace(graph.outputs()[1], exp(own_y), "test");
  CHECK_FALSE(shapes->same_shape(graph, graph.outputs()[0], own_x));
  CHECK(shapes->same_shape(graph, graph.outputs()[0], own_y));
  // A graph that is too deep for recursion.
  Variable v = own_x;
  for (int i = 0; i < 100000; ++i) v = sin(v);
  graph.replace(graph.outputs()[0], v, "test");
  CHECK(shapes->same_shape(graph, graph.outputs()[0], own_x));
  graph.replace(own_x, own_y, "test");
  CHECK(shapes->same_shape(graph, graph.outputs()[0], own_y));
}
