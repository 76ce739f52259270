// The schedule of loops as text: lanes, the order of sums, index runs and non-temporal stores, by vector width.
#include <doctest/doctest.h>

#include "bitale/bitale.hpp"
#include "codegen/key.hpp"
#include "codegen/schedule.hpp"
#include "lowering/lower.hpp"
#include "program/parse.hpp"
#include "program/steps.hpp"
#include "support/program_runner.hpp"

using namespace bitale;
using namespace bitale::program;

namespace {

std::string scheduled_text(const char* text, int vector_bytes) {
  return to_string(codegen::scheduled(parse(text), vector_bytes));
}

const char* const sum_of_squares = R"(program p(x: f64[?]) -> y: f64
  output y: f64
  for i in len(x, 0), vector, sum v0:
    v0 += (x[i] * x[i])
  y = v0
)";

std::vector<const Loop*> loops_of(const Program& program) {
  std::vector<const Loop*> out;
  visit_steps(program.steps, [&](const Step& step) {
    if (auto* loop = std::get_if<Loop>(&step.what)) out.push_back(loop);
  });
  return out;
}

Program scheduled_program(const Variables& inputs, const Variables& outputs, int vector_bytes) {
  return codegen::scheduled(lowering::lower(FunctionGraph(inputs, outputs)).program, vector_bytes);
}

}  // namespace

TEST_CASE("schedule: lanes follow the vector width, and long sums are pairwise") {
  CHECK(scheduled_text(sum_of_squares, 32) == R"(program p(x: f64[?]) -> y: f64
  output y: f64
  for i in len(x, 0), vector of 4 x 4, pairwise, sum v0:
    v0 += (x[i] * x[i])
  y = v0
)");
  CHECK(scheduled_text(sum_of_squares, 64).find("vector of 8 x 4, pairwise") != std::string::npos);
  // An order chosen by a pass is kept.
  CHECK(scheduled_text(R"(program p(x: f64[?]) -> y: f64
  output y: f64
  for i in len(x, 0), vector, lanes of 4 x 1, sum v0:
    v0 += x[i]
  y = v0
)",
                       32)
            .find("vector of 8, pairwise, lanes of 4 x 1") != std::string::npos);
}

TEST_CASE("schedule: loops that wait for memory, not for their sums, have one accumulator") {
  const auto head = [](const std::string& body) {
    const std::string text =
        "program p(x: f64[?], m: f64[?, 4], g: i64[?]) -> y: f64, z: f64[?]\n"
        "  output y: f64\n  output z: f64[len(x, 0)]\n"
        "  for i in len(x, 0), vector, sum v0:\n" +
        body + "  y = v0\n";
    const std::string scheduled = scheduled_text(text.c_str(), 64);
    const auto at = scheduled.find("vector of");
    return scheduled.substr(at, scheduled.find(',', at) - at);
  };
  CHECK(head("    v0 += x[i]\n") == "vector of 8 x 4");
  CHECK(head("    v0 += m[i, 0]\n") == "vector of 8 x 4");
  CHECK(head("    v0 += (((m[i, 0] + m[i, 1]) + m[i, 2]) + m[i, 3])\n") == "vector of 8");  // four gathers
  CHECK(head("    v0 += x[i]\n    z[g[i]] += x[i]\n") == "vector of 8");
}

TEST_CASE("schedule: a loop of few iterations runs in one pass or as straight-line code") {
  const char* text = R"(program p(x: f64[3]) -> y: f64[3]
  output y: f64[3]
  for i in 3, vector:
    y[i] = x[i]
)";
  CHECK(scheduled_text(text, 32).find("for i in 3, vector of 4, in one pass, straight up to 4:") != std::string::npos);
  CHECK(scheduled_text(text, 16).find("for i in 3, vector of 2, straight up to 4:") != std::string::npos);
}

TEST_CASE("schedule: gradients of gathers accumulate by index runs, results that are not read again may stream") {
  const auto i = lvector("i");
  const auto mu = vector("mu"), y = vector("y");
  const auto g = grad(sum(sqr(y - take(mu, i))), mu);
  const Program grouped = scheduled_program({mu, y, i}, {g}, 64);
  int by_runs = 0;
  for (auto* loop : loops_of(grouped)) by_runs += loop->schedule.runs_of >= 0;
  CHECK(by_runs == 1);
  for (auto* loop : loops_of(scheduled_program({mu, y, i}, {g}, 32))) CHECK(loop->schedule.runs_of < 0);

  const Program copied = scheduled_program({y}, {y + 1}, 32);
  REQUIRE(loops_of(copied).size() == 1);
  REQUIRE(loops_of(copied)[0]->schedule.streamed.size() == 1);
  CHECK(copied.buffers[std::size_t(loops_of(copied)[0]->schedule.streamed[0])].role == Role::output);
}

TEST_CASE("schedule: what iterations have in common makes them neither wider nor longer") {
  // The factor is computed once before the loop, however many operations of float64 it takes.
  const auto x = fvector("x"), y = fvector("y");
  const auto t = dscalar("t");
  const auto factor =
      cast(log(t) * sin(t) + exp(t) / (1 - pow(0.9, t)) + sqrt(1 - pow(0.99, t)) * tanh(t), DType::Float32);
  const Program program = scheduled_program({x, y, t}, {factor * x + y, sum(factor * x * y)}, 64);
  REQUIRE(loops_of(program).size() == 1);
  const Schedule& schedule = loops_of(program)[0]->schedule;
  CHECK(schedule.accumulators == 4);
  const Program alone = scheduled_program({x, y, t}, {factor * x + y}, 64);
  REQUIRE(loops_of(alone).size() == 1);
  CHECK(loops_of(alone)[0]->schedule.lanes == 16);
  CHECK(loops_of(alone)[0]->schedule.streamed.size() == 1);
}

TEST_CASE("schedule: a scheduled program can be parsed, and scheduled again for another width") {
  const auto x = matrix("x");
  const Program plain = lowering::lower(FunctionGraph({x}, {exp(x) / sum(exp(x), {{1}}, KeepDims::Yes)})).program;
  for (int vector_bytes : {16, 32, 64}) {
    const Program program = codegen::scheduled(plain, vector_bytes);
    CHECK(codegen::digest_of(parse(source_of(program))) == codegen::digest_of(program));
    CHECK(codegen::digest_of(program) != codegen::digest_of(plain));
    CHECK(to_string(codegen::scheduled(codegen::scheduled(plain, 16), vector_bytes)) == to_string(program));
  }
}

TEST_CASE("schedule: both emitters add in the order of the schedule") {
  Array values = Array::empty(DType::Float64, {1003});
  for (std::int64_t k = 0; k < values.size(); ++k) values.mutable_data_as<double>()[k] = 1.0 / double(3 * k + 1);
  const Program program = parse(sum_of_squares);
  const double native = test::run_program(program, std::vector<Array>{values}, "llvm").outputs[0].item();
  CHECK(native == test::run_program(program, std::vector<Array>{values}, "c").outputs[0].item());
}
