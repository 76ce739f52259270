// Tiered compilation: functions are interpreted at first, and go over to code when that has turned out to be
// worthwhile.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <stdexcept>
#include <vector>

#include "bitale/bitale.hpp"
#include "bitale/core/text.hpp"
#include "codegen/background.hpp"
#include "codegen/code.hpp"
#include "lowering/lower.hpp"
#include "program/parse.hpp"
#include "support/directory.hpp"
#include "support/program_runner.hpp"

using namespace bitale;
using testing::TemporaryDirectory;

namespace {

program::Program lowered(const Variables& inputs, const Variables& outputs) {
  return std::move(lowering::lower(FunctionGraph(inputs, outputs)).program);
}
std::unique_ptr<codegen::MachineCode> in_tiers(const program::Program& program) {
  return codegen::compile(program, codegen::this_target(), codegen::llvm_tiered_generator());
}

Array numbers(std::int64_t count) {
  std::vector<double> out;
  for (std::int64_t i = 0; i < count; ++i) out.push_back(std::sin(double(i) * 1.7) * 3);
  return Array(out);
}

constexpr std::int64_t many = 100000;
constexpr int calls_with_many = 1000;  // take longer than making code, except after it was made

// Calls it until code has been made.
void use(const codegen::MachineCode& code, const program::Program& program) {
  const std::vector<Array> inputs{numbers(many)};
  for (int call = 0; call < calls_with_many && !code.entry(); ++call) test::run_code(code, program, inputs);
  codegen::wait_for_background_work();
}

void check_same_bits(const Array& got, const Array& expected) {
  const bool same = identical(got, expected);
  CHECK_MESSAGE(same, cat(got.str(), " is not ", expected.str()));
}

// A program without reductions in lanes, whose steps depend on each other.
std::pair<Variables, Variables> recurrence() {
  const auto x = vector("x");
  const auto run = scan({.sequences = {x}, .initial = {constant(0.25)}},
                        [](Variable each, Variable y) { return y * 0.5 + sin(y + each); });
  return {{x}, {sum(run.traces[0])}};
}

}  // namespace

TEST_CASE("tiers: code is made for what is called much, and is what the store keeps") {
  const TemporaryDirectory directory;
  const config::Change change("compiledir", directory.path());
  const auto x = vector("x");
  const auto program = lowered({x}, {2. * exp(x), sum(sin(x))});
  {
    const auto code = in_tiers(program), other = in_tiers(program);
    CHECK(code->origin() == codegen::Origin::interpreted);
    CHECK(other->origin() == codegen::Origin::interpreted);
    for (int call = 0; call < 3; ++call) test::run_code(*code, program, std::vector<Array>{numbers(5)});
    codegen::wait_for_background_work();
    CHECK((code->entry() == nullptr));  // code for a few calls is never made
    use(*code, program);
    REQUIRE((code->entry() != nullptr));
    CHECK((other->entry() == nullptr));
    use(*other, program);
    CHECK((other->entry() == code->entry()));  // made once
    const auto usual = codegen::compile(program);
    CHECK(usual->origin() == codegen::Origin::memory);
    CHECK((usual->entry() == code->entry()));
  }
  const auto again = in_tiers(program);  // nothing is interpreted where there is code
  CHECK(again->origin() == codegen::Origin::store);
  const config::Change off("cache", "off");
  const auto kept_nowhere = in_tiers(program);
  CHECK(kept_nowhere->origin() == codegen::Origin::interpreted);
  use(*kept_nowhere, program);
  CHECK((kept_nowhere->entry() != nullptr));
}

TEST_CASE("tiers: results have the same bits before and after, and as without tiers") {
  const config::Change off("cache", "off");
  const auto x = vector("x");
  const Variables outputs{exp(x) * sin(x) + x, sum(tanh(x) * x), cumsum(x), var(x), logsumexp(x), softmax(x, {0})};
  const auto program = lowered({x}, outputs);
  const auto tiered = in_tiers(program), usual = codegen::compile(program);
  const auto compare = [&] {
    for (const std::int64_t count : {1, 7, 8, 33, 1000}) {
      const std::vector<Array> at{numbers(count)};
      const auto got = test::run_code(*tiered, program, at), expected = test::run_code(*usual, program, at);
      for (std::size_t k = 0; k < outputs.size(); ++k) {
        CAPTURE(k);
        check_same_bits(got.outputs[k], expected.outputs[k]);
      }
    }
  };
  compare();
  CHECK((tiered->entry() == nullptr));
  use(*tiered, program);
  CHECK((tiered->entry() != nullptr));
  compare();
}

TEST_CASE("tiers: a long call goes over to code when it is ready") {
  const config::Change off("cache", "off");
  const auto [inputs, outputs] = recurrence();
  const auto program = lowered(inputs, outputs);
  const auto tiered = in_tiers(program), usual = codegen::compile(program);
  const std::vector<Array> few{numbers(30)}, at{numbers(20 * many)};
  check_same_bits(test::run_code(*tiered, program, few).outputs[0], test::run_code(*usual, program, few).outputs[0]);
  CHECK((tiered->entry() == nullptr));
  check_same_bits(test::run_code(*tiered, program, at).outputs[0], test::run_code(*usual, program, at).outputs[0]);
  CHECK((tiered->entry() != nullptr));
  codegen::wait_for_background_work();
}

TEST_CASE("tiers: a call of the host beside a loop that goes step by step is compiled at once") {
  const config::Change off("cache", "off");
  const std::string host = R"(program p(x: f64[?]) -> y: f64[len(x, 0)], z: f64
  y = perform 0 double(x)
  output z: f64
)";
  const std::string alone = host + "  z = 1.0\n", with_loop = host + R"(  for i in len(x, 0), state v0 = 0.5:
    next v0 = (v0 * x[i])
  z = v0
)";
  CHECK((in_tiers(program::parse(alone))->entry() == nullptr));
  CHECK((in_tiers(program::parse(with_loop))->entry() != nullptr));
}

TEST_CASE("tiers: a child made by fork is interpreted, and makes code of its own") {
  const config::Change off("cache", "off");
  const auto x = vector("x");
  const auto program = lowered({x}, {sum(exp(x))});
  const auto code = in_tiers(program);
  const std::vector<Array> at{numbers(10)};
  const Array expected = test::run_code(*code, program, at).outputs[0];
  const std::vector<Array> inputs{numbers(many)};
  while (!code->entry()) test::run_code(*code, program, inputs);  // a thread of this process makes, or has made, code
  const auto next = in_tiers(program);
  const pid_t child = fork();
  if (child == 0) {
    bool fine = true;
    for (auto* each : {&code, &next}) {
      use(**each, program);
      fine &= (*each)->entry() && identical(test::run_code(**each, program, at).outputs[0], expected);
    }
    codegen::end_background_work();
    _exit(fine ? 0 : 1);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  codegen::wait_for_background_work();
}

TEST_CASE("tiers: a process may exit while code is being made") {
  const config::Change off("cache", "off");
  const auto x = vector("x");
  const std::vector<Array> inputs{numbers(many)};
  for (int k = 1; k <= 6; ++k) {
    const auto program = lowered({x}, {sum(exp(x) * double(k)), sin(x) * exp(x) + double(k)});
    const auto code = in_tiers(program);
    const pid_t child = fork();
    if (child == 0) {
      for (int call = 0; call < 20 * k; ++call) test::run_code(*code, program, inputs);
      std::exit(0);
    }
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
  }
}

TEST_CASE("background: work runs in turn, and what fails does not stop the rest") {
  std::vector<int> done;  // of one thread at a time
  for (int k = 0; k < 20; ++k)
    codegen::run_later([&done, k] {
      done.push_back(k);
      if (k == 3) throw std::runtime_error("lost");
    });
  codegen::wait_for_background_work();
  REQUIRE(done.size() == 20);
  for (int k = 0; k < 20; ++k) CHECK(done[std::size_t(k)] == k);
  codegen::end_background_work();
}
