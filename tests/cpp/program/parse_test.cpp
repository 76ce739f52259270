// Programs as text: a printed Program is parsed to an equal one, and errors give position and reason.
#include "program/parse.hpp"

#include <doctest/doctest.h>

#include "bitale/bitale.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/registry.hpp"
#include "codegen/key.hpp"
#include "lowering/lower.hpp"

using namespace bitale;
using namespace bitale::program;

namespace {

void reads_back(const Program& program, std::string_view what) {
  const std::string source = source_of(program);
  CAPTURE(what);
  try {
    const Program again = parse(source);
    const std::string message = cat(source, "\n--- read as\n", source_of(again));
    CHECK_MESSAGE(codegen::digest_of(again) == codegen::digest_of(program), message);
  } catch (const Error& error) {
    const std::string message = cat(error.what(), "\n", source);
    FAIL_CHECK(message);
  }
}

void fails(std::string_view text, const std::string& why) {
  try {
    parse(text);
    FAIL_CHECK("no error, expected: " << why);
  } catch (const ValueError& error) {
    const std::string message = error.what();
    CHECK_MESSAGE(message.find(why) != std::string::npos, message);
  }
}

}  // namespace

TEST_CASE("a printed program can be parsed") {
  // Every kind of step, as to_string writes it.
  const std::string text = R"(program all(x: f64[?, ?], i: i64[?]) -> y: f64[len(x, 0)], s: f64
  output y: f64[len(x, 0)]
  output s: f64
  temporary t: f64[len(x, 0)]
  stack small: i32[3]
  fill y 0.0
  fill small 1
  v0 = (len(x, 0) * 2)
  require (v0 < 100)
  for j in len(x, 0), vector, ahead 64, sum v1, max v2, sum v3:
    t[j] = select((x[j, 0] > 0.5), exp2(x[j, 1]), -x[j, 0])
    y[i[j]] += (t[j] * 2.0)
    v1 += (x[j, 0] * x[j, 1])
    v2 max= x[j, 0]
      position: v3 = j
  for k in len(x, 0), prefix sum v4:
    v4 += x[k, 0]
    y[k] = v4
    for l in 3:
      small[l] = (small[l] & i32(l))
    v5 = call bt_test(len(x, 1), in x from (k * len(x, 1)), out y, inout t)
    require (v5 == 0)
  b = perform Sort{axis=0}(y, i)
  s = (v1 + f64(v3))
)";
  std::string with_result = text;
  with_result.insert(with_result.find("  output y"), "  buffer b: f64[?]\n");
  const Program program = parse(with_result);
  CHECK(to_string(program) == text);
  CHECK_NOTHROW(verify(program));
  reads_back(program, "all kinds");
}

TEST_CASE("programs of all ops of the registry can be parsed from their source") {
  for (auto& entry : op_registry()) {
    std::size_t count = 0;
    for (auto& sample : entry.samples()) {
      if (count++ > 2) break;
      const FunctionGraph graph(graph_inputs(sample.node.outputs()), sample.node.outputs());
      for (const bool shared : {false, true}) reads_back(lowering::lower(graph, {}, shared).program, entry.name);
    }
  }
}

TEST_CASE("programs of typical user expressions can be parsed from their source") {
  const auto x = matrix("x"), y = matrix("y"), z = tensor("z", DType::Float32, {unknown_length});
  const std::vector<Variables> expressions{{softmax(x + transpose(y)), sum(log(x))},
                                           {cumsum(exp(x), 0), argmax(x, 1)},
                                           {dot(x, y), sum(dot(x, y) * x, std::vector<int>{0})},
                                           {gammaln(z) * erf(z), sum(z * z)},
                                           {concatenate({x, y}, 0) * 2.0}};
  for (auto& outputs : expressions)
    for (const bool shared : {false, true})
      reads_back(lowering::lower(FunctionGraph(graph_inputs(outputs), outputs), {}, shared).program, "expression");
}

TEST_CASE("a parse error gives the position and what was expected") {
  fails("", "the text is empty");
  fails("program p(x: f64) -> y: f64\n  y = z\n", "line 2, column 8: expected a buffer, which `z` is not");
  fails("program p(x: f65) -> y: f64\n", "line 1, column 17: expected a dtype");
  fails("program p(x: f64) -> y: f64\n  y = v0\n", "expected a variable that is known, which v0 is not");
  fails("program p(x: f64) -> y: f64\n  for i in 3, some v0:\n    y += x\n", "expected what the loop carries");
  fails("program p(x: f64) -> y: f64\n  y = (x ? x)\n", "expected an operator");
  fails("program p(x: f64) -> y: f64\n  y = x x\n", "expected the end of the line");
  fails("program p(x: f64) -> y: f64\n      y = x\n", "expected a line at a depth of 2");
  fails("program p(x: f64) -> y: f64\n  for i in 3, sum v0:\n    y += x\n", "a loop that updates v0");
}
