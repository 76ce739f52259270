// Handles that are null, positions out of range, and conditions on symbolic values: the first two raise an error that
// says what is wrong, the last doesn't compile, or means what it says.
#include <doctest/doctest.h>

#include <concepts>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "bitale/bitale.hpp"
#include "bitale/compile/debug_mode.hpp"
#include "bitale/compile/profile.hpp"
#include "bitale/graph/features.hpp"
#include "bitale/graph/inner_graph.hpp"
#include "bitale/ops/fft.hpp"
#include "bitale/ops/signal.hpp"
#include "bitale/program/expr.hpp"
#include "bitale/rewriting/rules.hpp"

using namespace bitale;

namespace {

// ---- what must not compile
// -------------------------------------------------------------------------------------------

template <class T>
concept has_truth = requires(const T& x) {
  x ? 1 : 2;
};
template <class T>
concept converts_to_bool = std::is_constructible_v<bool, T> || std::is_convertible_v<T, bool>;
template <class T, class U>
concept comparable = requires(const T& x, const U& y) {
  x == y;
};

static_assert(!has_truth<Variable> && !has_truth<Apply> && !has_truth<Function> && !has_truth<program::Expr>);
static_assert(!converts_to_bool<Variable> && !converts_to_bool<Apply> && !converts_to_bool<Function>);
static_assert(!comparable<Variable, Variable> && !comparable<Variable, int> && !comparable<Variable, double>);
static_assert(std::same_as<decltype(std::declval<Variable>() && std::declval<Variable>()), Variable>);
static_assert(std::same_as<decltype(std::declval<Variable>() || true), Variable>);
static_assert(std::same_as<decltype(!std::declval<Variable>()), Variable>);
static_assert(has_truth<Type>, "a Ref is a pointer");

// ---- what raises
// -----------------------------------------------------------------------------------------------------

struct Use {
  std::string name;
  std::function<void()> action;
};

// The message of the error that the use raises; "" where it raises none.
std::string error_of(const Use& use) {
  try {
    use.action();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("logical operators are elementwise") {
  auto x = vector("x");
  auto f = function({x}, {x > 0 && x < 2, x < 0 || x > 2, !(x > 0), !x, x && true, (x > 0) && (x < 2) && !(x > 1)});
  const auto out = f({Array{-1., 0., 1., 2., 3.}});
  CHECK(identical(out[0], Array{false, false, true, false, false}));
  CHECK(identical(out[1], Array{true, false, false, false, true}));
  CHECK(identical(out[2], Array{true, true, false, false, false}));
  CHECK(identical(out[3], Array{false, true, false, false, false}));
  CHECK(identical(out[4], Array{true, false, true, true, true}));
  CHECK(identical(out[5], Array{false, false, true, false, false}));
}

TEST_CASE("ranges of numbers are operands") {
  auto x = vector("x");
  const std::vector<double> weights{1, 2, 3};
  const auto f = function({x}, {x * weights, std::span<const double>(weights) - x, dot(x, weights), x < weights});
  const auto out = f({Array{3., 2., 1.}});
  CHECK(identical(out[0], Array{3., 4., 3.}));
  CHECK(identical(out[1], Array{-2., 0., 2.}));
  CHECK(identical(out[2], Array(10.)));
  CHECK(identical(out[3], Array{false, false, true}));
  CHECK(identical(f({weights})[0], Array{1., 4., 9.}));
  CHECK_THROWS_AS(constant(Array()), ValueError);
  CHECK_THROWS_AS(x + Array(), ValueError);
  CHECK_THROWS_AS(f({Array()}), ValueError);
}

TEST_CASE("defined tells null handles") {
  auto x = vector("x");
  Variable none, moved = exp(x), taken = std::move(moved);
  CHECK(x.defined());
  CHECK(taken.defined());
  CHECK_FALSE(none.defined());
  CHECK_FALSE(moved.defined());  // NOLINT(bugprone-use-after-move)
  CHECK_FALSE(x.owner().defined());
  CHECK(taken.owner().defined());
  CHECK_FALSE(Function().defined());
  CHECK(function({x}, x).defined());
  CHECK(none.str() == "<no variable>");
  CHECK(none.same_as(Variable()));
}

TEST_CASE("handles are null after a move, and keep what they are when they are moved to themselves") {
  const auto check = [](auto first, auto second) {
    using Handle = decltype(first);
    CAPTURE(typeid(Handle).name());
    Handle taken = std::move(first);
    CHECK(taken.defined());
    CHECK_FALSE(first.defined());  // NOLINT(bugprone-use-after-move)
    first = std::move(second);
    CHECK(first.defined());
    CHECK_FALSE(second.defined());  // NOLINT(bugprone-use-after-move)
    Handle& same = first;
    first = std::move(same);
    CHECK(first.defined());
    std::swap(first, second);
    CHECK_FALSE(first.defined());
    CHECK(second.defined());
    std::vector<Handle> several{second, taken};
    several.erase(several.begin());
    CHECK(several.front().defined());
  };
  const auto x = vector("x");
  check(Array{42., 43.}, Array(1.));
  check(Array::holding(make_ref<HostObject>()), Array{1., 2.});
  check(exp(x), sin(x));
  check(exp(x).owner(), sin(x).owner());
  check(function({x}, exp(x)), function({x}, sin(x)));
}

TEST_CASE("an Array that was moved from is no value") {
  Array a{42., 43.};
  { const Array b = std::move(a); }
  CHECK_THROWS_AS(a.item(), ValueError);  // NOLINT(bugprone-use-after-move)
  CHECK_THROWS_AS(a.data_as<double>(), ValueError);
  CHECK(a.size() == 0);
  CHECK_FALSE(a.copy().defined());
  CHECK_FALSE(a.contiguous().defined());
  CHECK_THROWS_AS(constant(a), ValueError);
  a = Array{1., 2.};
  CHECK(identical(a, Array{1., 2.}));
}

TEST_CASE("members of null handles raise") {
  const Variable v;
  const Apply a;
  const Function f;
  const std::vector<Use> uses = {
      {"type", [&] { v.type(); }},
      {"owner", [&] { v.owner(); }},
      {"owner_op", [&] { v.owner_op(); }},
      {"has_owner", [&] { v.has_owner(); }},
      {"index", [&] { v.index(); }},
      {"name", [&] { v.name(); }},
      {"set_name", [&] { v.set_name("v"); }},
      {"where", [&] { v.where(); }},
      {"tag", [&] { v.tag(); }},
      {"is_guarded", [&] { v.is_guarded(); }},
      {"tensor", [&] { v.tensor(); }},
      {"storage", [&] { v.storage(); }},
      {"dtype", [&] { v.dtype(); }},
      {"ndim", [&] { v.ndim(); }},
      {"static_shape", [&] { v.static_shape(); }},
      {"is_constant", [&] { v.is_constant(); }},
      {"constant", [&] { v.constant(); }},
      {"is_disconnected", [&] { v.is_disconnected(); }},
      {"is_null", [&] { v.is_null(); }},
      {"why_null", [&] { v.why_null(); }},
      {"op", [&] { a.op(); }},
      {"op_ref", [&] { a.op_ref(); }},
      {"inputs", [&] { a.inputs(); }},
      {"input", [&] { a.input(0); }},
      {"output_count", [&] { a.output_count(); }},
      {"output", [&] { a.output(); }},
      {"outputs", [&] { a.outputs(); }},
      {"provenance", [&] { a.provenance(); }},
      {"with_inputs", [&] { a.with_inputs({}); }},
      {"call", [&] { f({}); }},
      {"call span", [&] { f.call({}); }},
      {"call_some", [&] { f.call_some({}, {}); }},
      {"as", [&] { f.as<double(double)>(); }},
      {"run_into", [&] { f.run_into(std::span<const Array>(), std::span<const Array>()); }},
      {"require_signature", [&] { f.require_signature({}, {}); }},
      {"accept", [&] { f.accept(0, Array(1.)); }},
      {"free", [&] { f.free(); }},
      {"function name", [&] { f.name(); }},
      {"function inputs", [&] { f.inputs(); }},
      {"function output_count", [&] { f.output_count(); }},
      {"graph", [&] { f.graph(); }},
      {"built", [&] { f.built(); }},
      {"output_labels", [&] { f.output_labels(); }},
      {"shared_variables", [&] { f.shared_variables(); }},
      {"updated_variables", [&] { f.updated_variables(); }},
      {"mode", [&] { f.mode(); }},
      {"times", [&] { f.times(); }},
      {"profile", [&] { f.profile(); }},
      {"is_profiled", [&] { f.is_profiled(); }},
      {"rewrite_report", [&] { f.rewrite_report(); }},
      {"explain", [&] { f.explain(); }},
      {"dprint", [&] { f.dprint(); }},
      {"page_of", [&] { page_of(f); }},
      {"node_times", [&] { node_times(f, {}); }},
      {"export_c", [&] { export_c(f, "/nonexistent"); }},
      {"export_object", [&] { export_object(f, "/nonexistent"); }},
      {"stablehlo_text", [&] { stablehlo_text(f); }},
      {"export_stablehlo", [&] { export_stablehlo(f, "/nonexistent"); }},
      {"address", [&] { address(f, "vector"); }},
  };
  for (const Use& use : uses) {
    CAPTURE(use.name);
    CHECK(contains(error_of(use), "null"));
  }
}

TEST_CASE("functions of operands raise for a null one, and name the line") {
  const Variable v;
  auto x = vector("x");
  std::map<std::string, Variable> params{{"w", x}};
  const std::string message = error_of({"typo", [&] { x* params["typo"]; }});
  CHECK(contains(message, "std::map"));
  CHECK(contains(message, "handles_test.cpp"));
  std::vector<Use> uses = {
      {"+", [&] { x + v; }},
      {"<", [&] { v < 1; }},
      {"&&", [&] { v&& x; }},
      {"!", [&] { !v; }},
      {"neg", [&] { -v; }},
      {"switch_", [&] { switch_(v, x, 0); }},
      {"clip", [&] { clip(x, v, 1); }},
      {"sum", [&] { sum(v); }},
      {"concatenate",
       [&] {
         concatenate({x, v});
       }},
      {"stack",
       [&] {
         stack(Variables{x, v});
       }},
      {"reshape",
       [&] {
         reshape(x, {v, 1});
       }},
      {"alloc", [&] { alloc(0., Variables{v}); }},
      {"subtensor", [&] { subtensor(x, {v}); }},
      {"slice",
       [&] {
         subtensor(x, {Slice{v, {}, {}}});
       }},
      {"set_subtensor", [&] { set_subtensor(x, {0}, v); }},
      {"ifelse", [&] { ifelse(v, x, x); }},
      {"ifelse of lists", [&] { ifelse(1, Variables{v}, Variables{x}); }},
      {"dot", [&] { dot(x, v); }},
      {"draw", [&] { random::normal(v); }},
      {"cholesky", [&] { cholesky(v); }},
      {"assert_op", [&] { assert_op(x, {v}); }},
      {"print", [&] { print(v); }},
      {"complex", [&] { complex(x, v); }},
  };
#define X(name) uses.push_back({#name, [&] { name(v); }});
  BITALE_UNARY_FUNCTIONS(X)
#undef X
#define X(name) uses.push_back({#name, [&] { name(x, v); }});
  BITALE_BINARY_FUNCTIONS(X)
#undef X
  for (const Use& use : uses) {
    CAPTURE(use.name);
    CHECK(contains(error_of(use), "null"));
  }
}

TEST_CASE("functions of graphs raise for null variables") {
  const Variable v;
  const Apply a;
  auto x = vector("x"), cost = sum(x);
  const Variables with_null{x, v};
  Variable s = shared(Array{1., 2.});
  VariableMap memo;
  FunctionGraph graph({x}, {exp(x)}, Clone::No);
  const std::vector<Use> uses = {
      {"function, input", [&] { function({v}, cost); }},
      {"function, output", [&] { function({x}, v); }},
      {"function, outputs", [&] { function({x}, with_null); }},
      {"function, updated",
       [&] {
         function({}, Variables{}, {.updates = {{v, x}}});
       }},
      {"function, update",
       [&] {
         function({}, Variables{}, {.updates = {{s, v}}});
       }},
      {"function, given",
       [&] {
         function({}, cost, {.givens = {{v, x}}});
       }},
      {"function, givens",
       [&] {
         function({}, cost, {.givens = {{x, v}}});
       }},
      {"eval", [&] { eval(v); }},
      {"eval, input",
       [&] {
         eval(cost, {{v, Array{1.}}});
       }},
      {"Apply", [&] { Apply(exp(x).owner().op_ref(), {v}, {x.type()}); }},
      {"Apply without op", [&] { Apply(OpRef(), {x}, {x.type()}); }},
      {"Apply without type", [&] { Apply(exp(x).owner().op_ref(), {x}, {Type()}); }},
      {"with_inputs", [&] { exp(x).owner().with_inputs({v}); }},
      {"op()", [&] { exp(x).owner().op()({v}); }},
      {"Variable without type", [&] { Variable without_type{Type()}; }},
      {"constant_of", [&] { constant_of(Type(), Array{1.}); }},
      {"shared_of", [&] { shared_of(Type(), Array{1.}); }},
      {"get_value", [&] { get_value(v); }},
      {"set_value", [&] { set_value(v, Array{1.}); }},
      {"container_of", [&] { container_of(v); }},
      {"toposort", [&] { toposort(with_null); }},
      {"ancestors", [&] { ancestors(with_null); }},
      {"graph_inputs", [&] { graph_inputs(with_null); }},
      {"explicit_graph_inputs", [&] { explicit_graph_inputs(with_null); }},
      {"depends_on", [&] { depends_on(v, Variables{x}); }},
      {"node_count", [&] { node_count(with_null); }},
      {"clone", [&] { clone(with_null, memo); }},
      {"graph_replace", [&] { graph_replace(with_null, {}); }},
      {"graph_replace, pairs",
       [&] {
         graph_replace(Variables{cost}, {{x, v}});
       }},
      {"graph_replace, of null",
       [&] {
         graph_replace(Variables{cost}, {{v, x}});
       }},
      {"clone_replace", [&] { clone_replace(with_null, {}); }},
      {"clone_replace, pairs",
       [&] {
         clone_replace(Variables{cost}, {{x, v}});
       }},
      {"equal_computations", [&] { equal_computations(with_null, with_null); }},
      {"equal_computations, inputs", [&] { equal_computations(Variables{x}, Variables{x}, with_null, with_null); }},
      {"FunctionGraph, inputs", [&] { FunctionGraph({v}, {cost}); }},
      {"FunctionGraph, outputs", [&] { FunctionGraph({x}, with_null); }},
      {"FunctionGraph of outputs", [&] { FunctionGraph{Variables{v}}; }},
      {"replace", [&] { graph.replace(v, x, "test"); }},
      {"replace by", [&] { graph.replace(graph.outputs()[0], v, "test"); }},
      {"replace_all",
       [&] {
         graph.replace_all(std::vector<std::pair<Variable, Variable>>{{v, v}}, "test");
       }},
      {"add_output", [&] { graph.add_output(v); }},
      {"InnerGraph", [&] { InnerGraph(Variables{x}, with_null); }},
      {"grad, cost", [&] { grad(v, x); }},
      {"grad, wrt", [&] { grad(cost, v); }},
      {"grad, several", [&] { grad(cost, with_null); }},
      {"grad, consider_constant", [&] { grad(cost, x, {.consider_constant = {v}}); }},
      {"grad, known_grads",
       [&] {
         grad(Variables{x}, {.known_grads = {{cost, v}}});
       }},
      {"pullback", [&] { pullback({v}, {x}, {x}); }},
      {"pullback, wrt", [&] { pullback({x}, {v}, {x}); }},
      {"pullback, cotangent", [&] { pullback({exp(x)}, {x}, {v}); }},
      {"pushforward", [&] { pushforward({v}, {x}, {x}); }},
      {"pushforward, wrt", [&] { pushforward({x}, {v}, {x}); }},
      {"pushforward, tangent", [&] { pushforward({exp(x)}, {x}, {v}); }},
      {"jacobian", [&] { jacobian(v, x); }},
      {"jacobian, wrt", [&] { jacobian(exp(x), v); }},
      {"sparse_jacobian", [&] { sparse_jacobian(v, x, Array{1.}); }},
      {"sparse_hessian", [&] { sparse_hessian(v, x, Array{1.}); }},
      {"hessian", [&] { hessian(v, x); }},
      {"hessian, wrt", [&] { hessian(cost, v); }},
      {"hessian_vector_product", [&] { hessian_vector_product(v, {x}, {x}); }},
      {"hessian_vector_product, vector", [&] { hessian_vector_product(cost, {x}, {v}); }},
      {"gauss_newton_vector_product", [&] { gauss_newton_vector_product(v, {x}, {x}, {x}); }},
      {"gauss_newton_vector_product, output", [&] { gauss_newton_vector_product(cost, {v}, {x}, {x}); }},
      {"subgraph_grad", [&] { subgraph_grad({v}, {x}, {}, cost); }},
      {"subgraph_grad, end", [&] { subgraph_grad({x}, {v}, {}, cost); }},
      {"vectorize_graph", [&] { vectorize_graph(with_null, {}); }},
      {"vectorize_graph, pairs",
       [&] {
         vectorize_graph({cost}, {{x, v}});
       }},
      {"op_from_graph", [&] { op_from_graph({v}, {x}); }},
      {"op_from_graph, outputs", [&] { op_from_graph({x}, with_null); }},
      {"apply_op", [&] { apply_op(OpRef(), {x}); }},
      {"apply_op, inputs", [&] { apply_op(exp(x).owner().op_ref(), {v}); }},
      {"scan, sequence", [&] { scan({.sequences = {v}}, [](Variable e) { return e; }); }},
      {"scan, initial", [&] { scan({.initial = {v}, .n_steps = 2}, [](Variable e) { return e; }); }},
      {"scan, non_sequences",
       [&] { scan({.sequences = {x}, .non_sequences = {v}}, [](Variable e, Variable) { return e; }); }},
      {"scan, step", [&] { scan({.sequences = {x}}, [](Variable) { return Variable(); }); }},
      {"scan, updates", [&] { scan({.sequences = {x}}, [&](Variable e) {
                                return ScanStep({e}, {}, {{s, v}});
                              }); }},
      {"test_value", [&] { test_value(v); }},
      {"set_test_value", [&] { set_test_value(v, Array{1.}); }},
      {"compute_test_values", [&] { compute_test_values(a); }},
      {"set_nan_guarded", [&] { set_nan_guarded(v, true); }},
      {"structure_of", [&] { structure_of(v); }},
      {"is_complex", [&] { is_complex(v); }},
      {"dprint", [&] { dprint(v); }},
      {"dprint of several", [&] { dprint(with_null); }},
      {"dprint of a node", [&] { dprint(a); }},
      {"pprint", [&] { pprint(v); }},
      {"latex", [&] { latex(v); }},
      {"dot_text", [&] { dot_text(with_null); }},
      {"graph_html",
       [&] {
         graph_html({.graphs = {{"graph", with_null}}});
       }},
      {"rewrite_graph", [&] { rewrite_graph(v); }},
      {"rewrite_graph of several", [&] { rewrite_graph(with_null); }},
      {"trace_rewrite", [&] { trace_rewrite(v); }},
      {"Rule", [&] { rewriting::Rule("rule", v, x); }},
      {"Rule, right", [&] { rewriting::Rule("rule", exp(x), v); }},
      {"scalar_constant", [&] { rewriting::scalar_constant(v); }},
      {"fit", [&] { rewriting::fit(v, x); }},
      {"inferred_lengths", [&] { rewriting::inferred_lengths(v); }},
  };
  for (const Use& use : uses) {
    CAPTURE(use.name);
    const std::string message = error_of(use);
    CHECK_MESSAGE(!message.empty(), "raises no error");
    CHECK_FALSE(contains(message, "InternalError"));
  }
}

TEST_CASE("positions out of range raise") {
  auto x = vector("x");
  const auto f = function({x}, {x + 1, x * 2});
  const Results out = f({Array{1.}});
  const Apply node = exp(x).owner();
  const Array array = Array::zeros(DType::Float64, Dims{2, 3});
  FunctionGraph graph({x}, {exp(x)}, Clone::No);
  const std::vector<Use> uses = {
      {"result", [&] { out[2]; }},
      {"result of a call", [&] { f({Array{1.}})[7]; }},
      {"single", [&] { out.single(); }},
      {"input", [&] { node.input(1); }},
      {"negative input", [&] { node.input(-1); }},
      {"output", [&] { node.output(1); }},
      {"negative output", [&] { node.output(-1); }},
      {"call_some",
       [&] {
         const int outputs[] = {2};
         f.call_some(std::vector<Array>{Array{1.}}, outputs);
       }},
      {"accept", [&] { f.accept(1, Array{1.}); }},
      {"shape", [&] { array.shape(2); }},
      {"negative axis", [&] { array.shape(-1); }},
      {"slice", [&] { array.slice(2, 0, 1, 1); }},
      {"take_index", [&] { array.take_index(2, 0); }},
      {"take_index beyond", [&] { array.take_index(0, 2); }},
      {"insert_axis", [&] { array.insert_axis(4); }},
      {"transpose",
       [&] {
         const int axes[] = {0, 2};
         array.transpose(axes);
       }},
      {"at",
       [&] {
         const std::int64_t position[] = {0, 3};
         array.at(position);
       }},
      {"broadcast_to", [&] { array.broadcast_to(Dims{2}); }},
      {"item", [&] { array.item(); }},
      {"component", [&] { array.astype(DType::Complex128).component(2); }},
      {"change_node_input",
       [&] {
         graph.change_node_input({node.node(), 0}, x, "test");
       }},
  };
  for (const Use& use : uses) {
    CAPTURE(use.name);
    CHECK_FALSE(error_of(use).empty());
  }
}
