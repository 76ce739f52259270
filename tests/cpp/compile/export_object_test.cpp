// Exported objects, linked with a C99 program by gcc, compute the same as the function: on this processor, and on
// AArch64 under an emulator if there is one.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <iterator>

#include "bitale/autodiff/gradient.hpp"
#include "bitale/bitale.hpp"
#include "bitale/compile/export.hpp"
#include "bitale/core/text.hpp"
#include "bitale/graph/traversal.hpp"
#include "bitale/ops/registry.hpp"
#include "codegen/target.hpp"
#include "link/linker.hpp"
#include "support/directory.hpp"
#include "support/exported.hpp"

using namespace bitale;
using testing::ExportedCall;
using testing::ExportedResult;

namespace {

using Arrays = std::vector<Array>;

template <class Action>
std::string error_message(Action action) {
  try {
    action();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "nothing";
}

// Reports and returns false if gcc is missing.
bool find_gcc() {
  const bool found = testing::is_there("gcc");
  if (!found) MESSAGE("SKIP: no gcc, so no exported object is linked");
  return found;
}

struct Machine {
  std::string target, compiler, runner;
  std::string counterpart;  // a target of this processor with vectors of the same width
};

const Machine native{"native", "gcc", "", "native"};

// The first of these programs that is installed.
std::string first_of(const std::vector<std::string>& programs) {
  for (auto& program : programs)
    if (testing::is_there(program)) return program;
  return "";
}

// Reports and returns false if the compiler or the emulator for AArch64 is missing.
bool find_arm(Machine& arm) {
  arm = {"aarch64", first_of({"aarch64-linux-gnu-gcc"}), first_of({"qemu-aarch64-static", "qemu-aarch64"}), ""};
  for (const std::string target : {"x86-64-v2", "aarch64"})
    if (error_message([&] { codegen::target_named(target); }) == "nothing") arm.counterpart = target;
  const bool found = !arm.compiler.empty() && !arm.runner.empty();
  if (!found)
    MESSAGE(cat("SKIP: no ", arm.compiler.empty() ? "aarch64-linux-gnu-gcc" : "qemu-aarch64", " (./dev setup arm)"));
  arm.compiler += " -static";
  return found;
}

struct Case {
  std::string name, about;
  Function function;
  Arrays values;
  Arrays expected;     // by the interpreter
  Arrays exact = {};   // by native code with vectors of the same width; empty where bits may differ
  bool fails = false;  // in the interpreter
  double tolerance = 1e-12;
};

void compare(const Case& test, const ExportedResult& got) {
  INFO(test.name, ": ", test.about);
  CHECK((got.code != 0) == test.fails);
  if (test.fails || got.code != 0) return;
  REQUIRE(got.outputs.size() == test.expected.size());
  for (std::size_t k = 0; k < got.outputs.size(); ++k) {
    const Array& expected = test.expected[k];
    REQUIRE(got.outputs[k].shape() == expected.shape());
    const double tolerance = expected.dtype() == DType::Float32 ? std::max(test.tolerance, 1e-4) : test.tolerance;
    const bool close = is_float(expected.dtype()) ? allclose(got.outputs[k], expected, tolerance, tolerance * 1e-3)
                                                  : identical(got.outputs[k], expected);
    if (!test.exact.empty()) {
      const bool same = allclose(got.outputs[k], test.exact[k], 0, 0);
      CHECK_MESSAGE(same, cat("exported ", got.outputs[k].str(), "\nhere     ", test.exact[k].str()));
    }
    CHECK_MESSAGE(close, cat("exported    ", got.outputs[k].str(), "\ninterpreted ", expected.str()));
  }
}

void check(const std::deque<Case>& cases, const std::string& folder, const Machine& machine) {
  std::vector<ExportedCall> calls;
  for (auto& test : cases) calls.push_back({test.name, &test.function, test.values});
  std::string trouble;
  const auto results = testing::run_exported(calls, folder, ".o", machine.compiler, machine.runner, trouble);
  REQUIRE_MESSAGE(trouble.empty(), trouble);
  REQUIRE(results.size() == cases.size());
  for (std::size_t i = 0; i < cases.size(); ++i) compare(cases[i], results[i]);
}

// Exports the function for the machine and adds a case; returns false if it cannot be exported.
bool add(std::deque<Case>& cases, const std::string& folder, const Machine& machine, const std::string& about,
         const Variables& inputs, const Variables& outputs, const Arrays& values, const Mode& mode, bool exact,
         double tolerance = 1e-12) {
  Case test{cat("f", cases.size()), about, {}, values, {}, {}, false, tolerance};
  test.function = function(inputs, outputs, {.mode = mode, .on_unused_input = OnUnusedInput::Ignore});
  try {
    export_object(test.function, folder, {.name = test.name, .target = machine.target});
  } catch (const NotImplementedError&) {
    return false;
  }
  const Function oracle =
      function(inputs, outputs, {.mode = Mode("vm", "None"), .on_unused_input = OnUnusedInput::Ignore});
  try {
    for (const Array& each : oracle(values)) test.expected.push_back(each);
  } catch (const Error&) {
    test.fails = true;
  }
  const auto graph = std::make_shared<const FunctionGraph>(test.function.graph().clone());
  if (exact && !machine.counterpart.empty() && !test.fails)
    test.exact = link::link("jit", graph, {.target = machine.counterpart})->run(values);
  cases.push_back(std::move(test));
  return true;
}

Array numbers(const Dims& shape, double step, DType dtype = DType::Float64) {
  Array out = Array::empty(DType::Float64, shape);
  for (std::int64_t i = 0; i < out.size(); ++i)
    static_cast<double*>(out.mutable_data())[i] = std::sin(0.3 + step * double(i));
  return out.astype(dtype);
}

Variables with_gradients(const Variable& value, const Variables& wrt) {
  Variables out{value};
  for (auto& g : grad(value, wrt)) out.push_back(g);
  return out;
}

// One graph for each kind of code that lowering generates. In an object, products of matrices are loops and some
// special functions are those of the C library, so their results are not equal to the last bit.
std::deque<Case> whole_graphs(const std::string& folder, const Machine& machine) {
  std::deque<Case> cases;
  const auto make = [&](const std::string& about, const Variables& inputs, const Variables& outputs,
                        const Arrays& values, bool exact = true) {
    CHECK(add(cases, folder, machine, about, inputs, outputs, values, Mode("vm", "fast_run"), exact));
  };
  const Variable x = vector("x"), y = vector("y"), z = vector("z"), s = scalar("s"), X = matrix("X"), Y = matrix("Y"),
                 index = lvector("index"), f = tensor("f", DType::Float32, {unknown_length}),
                 wide = tensor("wide", DType::Float32, {unknown_length, unknown_length});
  const std::vector<int> last{1};
  for (const std::int64_t n : {1, 3, 64, 1000, 5003}) {
    const Array a = numbers({n}, 1.7), b = numbers({n}, 0.9), c = numbers({n}, 0.3);
    const Array sf = numbers({n}, 0.7, DType::Float32);
    make("fused", {x, s, y, z}, {exp(-0.5 * sqr((x - s) / 1.5)) * tanh(y) + log1p(sqr(z))}, {a, Array(0.25), b, c});
    make("with gradients", {x, s, y}, with_gradients(sum(exp(-0.5 * sqr((x - s) / 1.5)) * tanh(y)), {x, s}),
         {a, Array(0.25), b});
    make("reductions", {x}, {sum(x), prod(1.0 + 0.001 * x), min(x), max(x), argmax(x), mean(x), var(x)}, {a});
    make("cumulative sums", {x}, {cumsum(x), x + cumsum(sqr(x))}, {a});
    make("float32", {f}, {exp(f) + sin(f), sum(f), tanh(f) * erf(f), max(f)}, {sf});
    make("special", {x}, {gammaln(3.0 * x), psi(3.0 * x), erfcx(x), sin(1e9 * x), gammaln(sqr(x) + 1.0)}, {a}, false);
  }
  const Array m = numbers({7, 33}, 0.6), k = numbers({7, 33}, 1.1), square = numbers({40, 40}, 0.11);
  make("softmax", {X}, {softmax(X, last), log_softmax(X, last), logsumexp(X, last)}, {m});
  make("layer norm", {X}, {(X - mean(X, last, KeepDims::Yes)) / sqrt(var(X, last, 0, KeepDims::Yes) + 1e-5)}, {m});
  make("transposed", {X, Y}, {transpose(X) + Y, sum(X, std::vector<int>{0})}, {square, square});
  make("outer", {x, y}, {logsumexp(expand_dims(x, 1) + expand_dims(y, 0), last)}, {numbers({9}, 1), numbers({21}, 2)});
  make("float32 rows", {wide}, {softmax(wide, last), sum(wide, std::vector<int>{0})},
       {numbers({5, 37}, 0.8, DType::Float32)});
  const Variable mu = vector("mu"), sigma = exp(s);
  const Array indices = Array(std::vector<std::int64_t>{0, 2, 1, 1, 2, 0, 2, 1, 0});
  const Variable logp = sum(-0.5 * sqr((y - take(mu, index)) / sigma) - log(sigma));
  make("group model", {y, mu, index, s}, with_gradients(logp, {mu, s}),
       {numbers({9}, 0.8), Array{0.1, 0.2, 0.3}, indices, Array(0.3)});
  const Variable eta = dot(X, x);
  make("logistic", {X, x, y}, with_gradients(sum(y * eta - softplus(eta)), {x}),
       {m, numbers({33}, 0.4), numbers({7}, 0.2)}, false);
  make("network", {X, Y, wide}, {dot(X, transpose(Y)), dot(transpose(X), Y), dot(wide, transpose(wide))},
       {m, k, numbers({5, 37}, 0.8, DType::Float32)}, false);
  make("products in blocks of rows", {X, Y}, with_gradients(sum(sqr(tanh(dot(X, Y)))), {X, Y}),
       {numbers({3000, 16}, 0.7), numbers({16, 100}, 0.3)}, false);
  const Variable third = tensor("third", DType::Float64, {unknown_length, unknown_length, unknown_length});
  const Variable whole = lvector("whole"), power = lvector("power");
  make("runtime functions in the object", {x, f, whole, power},
       {tri_gamma(3.0 * x), gamma(3.0 * x), erfcx(1e200 * x), psi(3.0f * f), cos(1e30 * x), tan(1e30 * x),
        pow(whole, power), inc_subtensor(zeros_like(x), {2}, 1.0)},
       {numbers({9}, 0.8), numbers({7}, 0.8, DType::Float32), Array(std::vector<std::int64_t>{3, -2, 7, -1, 1}),
        Array(std::vector<std::int64_t>{5, 3, 0, 8, 9})},
       false);
  make("batched", {third}, {matmul(third, third)}, {numbers({3, 6, 6}, 0.9)}, false);
  make("products of temporaries", {X, Y, x, third},
       {dot(exp(X), transpose(Y)), dot(X, transpose(exp(Y))), dot(transpose(exp(X)), exp(Y)), dot(exp(X), x),
        dot(transpose(exp(X)), dot(exp(Y), x)), matmul(exp(third), tanh(third))},
       {m, k, numbers({33}, 0.4), numbers({3, 6, 6}, 0.9)}, false);
  Variable chain = s;
  for (int i = 0; i < 700; ++i) chain = sin(chain * 1.01 + double(i)) + chain;
  make("longer than one function", {s, x}, {chain, x * chain, chain * sum(x)}, {Array(0.1), numbers({5}, 1)});
  make("constants", {x, index}, {x + constant(numbers({5}, 0.5)), take(constant(numbers({9}, 0.5)), index)},
       {numbers({5}, 1), indices});
  return cases;
}

// Every stride()-th sample is tested.
std::size_t stride() {
  const char* all = std::getenv("BITALE_TEST_C");
  return all && std::string(all) == "all" ? 1 : 37;
}

void check_registry(const Machine& machine) {
  const testing::TemporaryDirectory directory;
  std::deque<Case> cases;
  std::size_t count = 0, chosen = 0, compared = 0;
  for (auto& entry : op_registry())
    for (auto& sample : entry.samples()) {
      if (count++ % stride() != 0) continue;
      const Variables outputs = sample.node.outputs(), inputs = graph_inputs(outputs);
      const auto is_exported = [](const Variable& v) { return as_tensor(v.type()) && !is_complex(v); };
      if (!std::all_of(inputs.begin(), inputs.end(), is_exported) ||
          !std::all_of(outputs.begin(), outputs.end(), is_exported))
        continue;
      ++chosen;
      if (add(cases, directory.path(), machine, cat(entry.name, " ", sample.note), inputs, outputs, sample.values,
              Mode("vm", "None"), false, sample.tolerance))
        compared += !cases.back().fails;
      if (cases.size() < 400) continue;
      check(cases, directory.path(), machine);
      cases.clear();
    }
  if (!cases.empty()) check(cases, directory.path(), machine);
  CHECK(compared * 2 > chosen);  // the others need functions that cannot be exported, or fail
}

}  // namespace

TEST_CASE("object: whole graphs, linked by gcc with a C99 program") {
  if (!find_gcc()) return;
  const testing::TemporaryDirectory directory;
  check(whole_graphs(directory.path(), native), directory.path(), native);
}

TEST_CASE("object: ops of the registry; all samples with BITALE_TEST_C=all") {
  if (find_gcc()) check_registry(native);
}

TEST_CASE("object: whole graphs on AArch64, under an emulator") {
  Machine arm;
  if (!find_arm(arm)) return;
  const testing::TemporaryDirectory directory;
  check(whole_graphs(directory.path(), arm), directory.path(), arm);
}

TEST_CASE("object: ops of the registry on AArch64; all samples with BITALE_TEST_C=all") {
  Machine arm;
  if (find_arm(arm)) check_registry(arm);
}

TEST_CASE("object: errors name what cannot be exported") {
  const testing::TemporaryDirectory directory;
  const Variable x = vector("x");
  const auto export_error = [&](const Function& f, const ObjectOptions& options = {}) {
    return error_message([&] { export_object(f, directory.path(), options); });
  };
  CHECK(export_error(function({x}, {sort(x)})).find("bt_sort_f64") != std::string::npos);
  const Function f = function({x}, {x + 1.0});
  CHECK(export_error(f, {.target = "z80"}).find("there is no target `z80`; targets are native, x86-64") !=
        std::string::npos);
  CHECK(export_error(f, {.name = "int"}).find("`int`") != std::string::npos);
}

TEST_CASE("object: the header and the return codes are those of exported C") {
  const testing::TemporaryDirectory directory;
  const auto header = [&](const std::string& file) {
    std::ifstream in(file);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  const Variable w = shared(Array{1.0, 2.0}, "w"), x = vector("x"), row = tensor("row", DType::Float64, {3});
  const Function step = function({x, row}, {sum(w * x) + sum(row)}, {.updates = {{w, w - 0.5 * x}}, .name = "step"});
  const auto c = export_c(step, directory.path() + "/c"), object = export_object(step, directory.path() + "/object");
  REQUIRE(object.size() == 2);
  CHECK(header(c[1]) == header(object[1]));
  if (!find_gcc()) return;
  const std::vector<ExportedCall> calls{
      {"step", &step, {Array{1.0, 2.0, 3.0}, numbers({3}, 1), Array{1.0, 2.0}}},  // lengths differ
      {"step", &step, {Array{1.0, 2.0}, numbers({4}, 1), Array{1.0, 2.0}}},       // a static length differs
      {"step", &step, {Array{1.0, 2.0}, numbers({3}, 1), Array{1.0, 2.0}}}};
  std::string trouble;
  const auto by_c = testing::run_exported(calls, directory.path() + "/c", ".c", "gcc", "", trouble);
  REQUIRE_MESSAGE(trouble.empty(), trouble);
  const auto by_object = testing::run_exported(calls, directory.path() + "/object", ".o", "gcc", "", trouble);
  REQUIRE_MESSAGE(trouble.empty(), trouble);
  for (std::size_t i = 0; i < calls.size(); ++i) CHECK(by_c[i].code == by_object[i].code);
  CHECK(by_c[0].code != 0);
  CHECK(by_c[1].code != 0);
  CHECK(by_c[2].code == 0);
  CHECK(identical(by_c[2].outputs[1], by_object[2].outputs[1]));
}
