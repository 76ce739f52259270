// function(): correct results in every mode, and errors that say why a graph cannot be compiled.
#include "bitale/bitale.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <cmath>
#include <thread>

using namespace bitale;

namespace {

// Runs the check in both modes.
template <class Check>
void in_every_mode(Check check) {
  for (auto* name : {"FAST_RUN", "FAST_COMPILE"}) {
    INFO(name);
    FunctionOptions options;
    options.mode = get_mode(name);
    check(options);
  }
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

template <class E, class Action>
std::string message_of(Action action) {
  try {
    action();
  } catch (const E& error) {
    return error.what();
  }
  FAIL("no error of the expected class");
  return {};
}

}  // namespace

TEST_CASE("the introductory example") {
  auto a = vector("a");
  auto b = a + pow(a, 10);
  in_every_mode([&](const FunctionOptions& options) {
    auto f = function({a}, b, options);
    CHECK(identical(f({Array{0., 1., 2.}}), Array{0., 2., 1026.}));
    auto g = function({a}, grad(sum(b), a), options);
    CHECK(allclose(g({Array{0., 1., 2.}}), Array{1., 11., 5121.}));
  });
}

TEST_CASE("x*y/y is x") {
  auto x = vector("x"), y = vector("y");
  auto f = function({x, y}, x * y / y, {.on_unused_input = OnUnusedInput::Ignore});
  CHECK(f.graph().node_count() == 0);
}

TEST_CASE("a mode may register additional rewrites") {
  auto x = vector("x");
  const Mode mode = Mode("vm", "fast_run")
                        .registering({{"to_cos",
                                       [](FunctionGraph& graph) {
                                         const Variable out = graph.outputs()[0];
                                         graph.replace(out, cos(out.owner().input(0)), "to_cos");
                                       },
                                       2.5}});
  CHECK(contains(mode.str(), "registered=[to_cos at 2.5]"));
  CHECK(allclose(function({x}, sin(x), {.mode = mode})({Array{0.0}}), Array{1.0}));
  CHECK(allclose(function({x}, sin(x))({Array{0.0}}), Array{0.0}));
}

TEST_CASE("picked elements and their gradient") {
  auto x = dmatrix("x");
  auto y = lvector("y");
  auto picked = subtensor(x, {arange(shape_i(y, 0)), y});
  in_every_mode([&](const FunctionOptions& options) {
    auto f = function({x, y}, {sum(picked), grad(sum(picked), x)}, options);
    auto results = f({Array{{1., 2.}, {3., 4.}, {5., 6.}}, Array{1, 0, 1}});
    CHECK(results[0].item() == 11);
    CHECK(identical(results[1], Array{{0., 1.}, {1., 0.}, {0., 1.}}));
  });
}

TEST_CASE("updates happen together, after the outputs") {
  in_every_mode([&](FunctionOptions options) {
    auto u = shared(Array(1.0), "u"), v = shared(Array(10.0), "v");
    options.updates = {{u, u + v}, {v, u * 2}};
    auto step = function(Variables{}, u, options);
    CHECK(step().item() == 1);
    CHECK(get_value(u).item() == 11);
    CHECK(get_value(v).item() == 2);
  });
}

TEST_CASE("a failing call does not change shared variables") {
  in_every_mode([&](FunctionOptions options) {
    auto w = shared(Array{1., 2., 3.}, "w");
    auto x = vector("x");
    options.updates = {{w, w + x}};
    auto f = function({x}, sum(x), options);
    CHECK_THROWS_AS(f({Array{1., 2.}}), ShapeError);
    CHECK(identical(get_value(w), Array{1., 2., 3.}));
    f({Array{1., 1., 1.}});
    CHECK(identical(get_value(w), Array{2., 3., 4.}));
  });
}

TEST_CASE("givens replace variables") {
  auto x = vector("x"), y = vector("y");
  in_every_mode([&](FunctionOptions options) {
    options.givens = {{x, y * 2}};
    auto f = function({y}, x + 1, options);
    CHECK(identical(f({Array{1., 2.}}), Array{3., 5.}));
  });
}

TEST_CASE("givens cannot replace inputs") {
  auto x = vector("x"), y = vector("y");
  auto z = x + y;
  CHECK(contains(message_of<ValueError>([&] { function({x}, x * 2, {.givens = {{x, x + 1}}}); }), "`x` is an input"));
  CHECK_THROWS_AS(function({z}, z * 2, {.givens = {{z, x}}}), ValueError);
}

TEST_CASE("a computed variable as input cuts off the graph") {
  auto x = vector("x"), y = vector("y"), q = vector("q");
  auto z = x + y;
  auto w = z * 2;
  in_every_mode([&](const FunctionOptions& options) {
    CHECK(identical(function({z}, w, options)({Array{1., 3.}}), Array{2., 6.}));
    CHECK(identical(function({z}, z, options)({Array{1., 3.}}), Array{1., 3.}));
    CHECK(identical(function({x, z}, w - x, options)({Array{1., 3.}, Array{5., 6.}}), Array{9., 9.}));
    CHECK(contains(message_of<UnusedInputError>([&] { function({x, z}, w, options); }), "`x`"));
    CHECK(contains(message_of<MissingInputError>([&] { function({z}, w + x, options); }), "`x`"));

    auto s = shared(Array{1., 1.}, "s");
    FunctionOptions updating = options;
    updating.updates = {{s, s + w}};
    auto f = function({z}, {w, s}, updating);
    CHECK(f.inputs()[0].same_as(z));
    CHECK(identical(f({Array{1., 3.}})[0], Array{2., 6.}));
    CHECK(identical(get_value(s), Array{3., 7.}));

    FunctionOptions given = options;
    given.givens = {{q, w}, {x, constant(Array{10., 20.})}};  // x is also an ancestor of z, which cuts it off
    CHECK(identical(function({z}, q + x, given)({Array{1., 3.}}), Array{12., 26.}));
  });
  CHECK(identical(eval(w, {{z, Array{4.}}}), Array{8.}));
}

TEST_CASE("outputs that need no computation share no memory") {
  auto x = vector("x");
  auto s = shared(Array{5., 6.}, "s");
  in_every_mode([&](const FunctionOptions& options) {
    auto f = function({x}, {x, x, s, constant(Array{7., 8.}), transpose(x)}, options);
    Array value{1., 2.};
    auto results = f({value});
    for (std::size_t i = 0; i < results.size(); ++i)
      for (std::size_t j = 0; j < i; ++j) CHECK(!results[i].shares_memory_with(results[j]));
    CHECK(!results[0].shares_memory_with(value));
    CHECK(identical(results[0], value));
    CHECK(identical(results[1], value));
    CHECK(identical(results[2], Array{5., 6.}));
    results[2].mutable_data_as<double>()[0] = 99;
    CHECK(identical(get_value(s), Array{5., 6.}));
    CHECK(identical(results[3], Array{7., 8.}));
  });
}

TEST_CASE("errors say why a graph cannot be compiled") {
  auto x = vector("x"), y = vector("y");
  auto w = shared(Array(1.0), "w");
  CHECK(contains(message_of<MissingInputError>([&] { function({x}, x + y); }), "`y`"));
  CHECK(contains(message_of<UnusedInputError>([&] { function({x, y}, x + 1); }), "`y`"));
  CHECK(contains(message_of<UnusedInputError>([&] { function({x, x}, x + 1); }), "twice"));
  CHECK(contains(message_of<TypeError>([&] { function({x, w}, x + 1); }), "shared"));
  CHECK(contains(message_of<TypeError>([&] { function({x}, x, {.updates = {{y, x}}}); }), "not a shared variable"));
  CHECK(contains(message_of<TypeError>([&] { function({x}, x, {.updates = {{w, x}}}); }), "expected"));
  CHECK(contains(message_of<TypeError>([&] {
                   function({x}, x, {.updates = {{w, cast(sum(x), DType::Float32)}}});
                 }),
                 "cast"));
  CHECK(contains(message_of<ValueError>([&] { get_mode("FAST_RUM"); }), "FAST_RUN"));
}

TEST_CASE("errors about wrong arguments name the input") {
  auto x = vector("x");
  auto n = lscalar("n");
  in_every_mode([&](const FunctionOptions& options) {
    auto f = function({x, n}, sum(x) + n, options);
    CHECK(contains(message_of<TypeError>([&] { f({Array{1.}}); }), "takes 2 arguments"));
    CHECK(contains(message_of<TypeError>([&] { f({Array{{1.}}, Array(1)}); }), "`x`"));
    CHECK(contains(message_of<TypeError>([&] { f({Array{1.}, Array(1.5)}); }), "`n`"));
    FunctionOptions casting = options;
    casting.allow_input_downcast = Downcast::Always;
    auto g = function({x, n}, sum(x) + n, casting);
    CHECK(g({Array{1.}, Array(2.0)}).item() == 3);
    CHECK(g({Array{1.}, Array(std::nan(""))}).item() == double(INT64_MIN));  // as by cast
  });
}

TEST_CASE("run-time errors name the node and where it was built") {
  auto x = vector("x"), y = vector("y");
  auto i = lscalar("i");
  in_every_mode([&](const FunctionOptions& options) {
    auto f = function({x, y}, x + y, options);
    auto text = message_of<ShapeError>([&] { f({Array{1., 2., 3.}, Array{1., 2.}}); });
    CHECK(contains(text, "add"));
    CHECK(contains(text, "3"));
    CHECK(contains(text, "function_test.cpp"));
    auto g = function({x, i}, subtensor(x, {i}), options);
    CHECK(contains(message_of<IndexError>([&] { g({Array{1., 2.}, Array(5)}); }), "5"));
    CHECK(g({Array{1., 2.}, Array(-1)}).item() == 2);
  });
}

TEST_CASE("empty arrays") {
  auto x = dmatrix("x");
  in_every_mode([&](const FunctionOptions& options) {
    auto f = function({x}, {sum(x), sum(x, std::vector<int>{0}), exp(x), matmul(x, transpose(x))}, options);
    auto results = f({Array::zeros(DType::Float64, {0, 3})});
    CHECK(results[0].item() == 0);
    CHECK(identical(results[1], Array{0., 0., 0.}));
    CHECK(results[2].shape() == Dims{0, 3});
    CHECK(results[3].shape() == Dims{0, 0});
  });
}

TEST_CASE("many threads may call one function") {
  auto x = vector("x");
  auto f = function({x}, sum(exp(x) * 2) + argmax(x));
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      const Array input = Array::full(DType::Float64, {100 + t}, 0.1 * t);
      const double expected = std::exp(0.1 * t) * 2 * (100 + t);
      for (int k = 0; k < 200; ++k) wrong += std::abs(f({input}).item() - expected) > 1e-9 * expected;
    });
  for (auto& thread : threads) thread.join();
  CHECK(wrong == 0);
}

namespace {
// Doubles a vector in place.
class DoubleInPlace final : public Op {
 public:
  std::string_view name() const override { return "DoubleInPlace"; }
  Apply make_node(std::span<const Variable> inputs) const override {
    return Apply(OpRef(this), {inputs[0]}, {inputs[0].type()});
  }
  void perform(const Apply&, std::span<const Array> in, std::span<Array> out) const override {
    for (std::int64_t i = 0; i < in[0].size(); ++i) in[0].mutable_data_as<double>()[i] *= 2;
    out[0] = in[0];
  }
  std::vector<int> destroys(const Apply&, int) const override { return {0}; }
};
}  // namespace

TEST_CASE("an in-place op does not change a value that is used elsewhere") {
  auto x = vector("x");
  const OpRef op(new DoubleInPlace);
  const Variable doubled = (*op)({x}), temporary = exp(x), c = constant(Array{1., 2.});
  in_every_mode([&](const FunctionOptions& options) {
    auto f = function({x}, {doubled, x + 1.0, (*op)({c}), (*op)({temporary}), temporary + doubled}, options);
    const Array a{1., 3.};
    for (int call = 0; call < 2; ++call) {
      auto results = f({a});
      CHECK(identical(a, Array{1., 3.}));
      CHECK(identical(results[0], Array{2., 6.}));
      CHECK(identical(results[1], Array{2., 4.}));
      CHECK(identical(results[2], Array{2., 4.}));
      CHECK(allclose(results[3], Array{2 * std::exp(1.), 2 * std::exp(3.)}));
      CHECK(allclose(results[4], Array{std::exp(1.) + 2, std::exp(3.) + 6}));
    }
  });
  CHECK(identical(*c.constant(), Array{1., 2.}));
}

TEST_CASE("dprint shows the stages") {
  auto x = vector("x");
  auto f = function({x}, (*make_ref<DoubleInPlace>())({x}) + 1);
  CHECK(contains(f.dprint(), "host callback"));
  CHECK(contains(f.dprint("program"), "perform DoubleInPlace"));
  CHECK(contains(f.dprint("llvm"), "define i32 @bitale_entry"));
  CHECK_THROWS_AS(f.dprint("nonsense"), ValueError);
}

TEST_CASE("a result that is taken from a temporary outlives it") {
  const Variable x = vector("x");
  const Function f = function({x}, x * 2.0);
  const Array& first = f(Array{1., 2.})[0];
  f(Array{9., 9.});
  CHECK(first.at({1}) == 4);
}

TEST_CASE("one number that a function returns is a double") {
  const Variable x = vector("x");
  const Function f = function({x}, sum(x)), both = function({x}, {sum(x), x});
  const double total = f(Array{1., 2.});
  CHECK(total == 3);
  CHECK_THROWS_AS(double(both(Array{1., 2.})), ValueError);
  CHECK_THROWS_AS(double(function({x}, x)(Array{1., 2.})), ValueError);
  const Results results = both(Array{1., 2.});
  const auto [value, same] = results.take<2>();
  CHECK(value.item() == 3);
  CHECK(results[1].at({1}) == 2);
}
