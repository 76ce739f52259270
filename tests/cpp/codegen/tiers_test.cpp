// Tiered compilation: functions begin with code that is made quickly, and go over to the usual code when it is ready.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <stdexcept>
#include <vector>

#include "bitale/bitale.hpp"
#include "bitale/core/text.hpp"
#include "codegen/background.hpp"
#include "codegen/code.hpp"
#include "lowering/lower.hpp"
#include "support/directory.hpp"

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

}  // namespace

TEST_CASE("tiers: the usual code replaces the quick one, and is what the store keeps") {
  const TemporaryDirectory directory;
  const config::Change change("compiledir", directory.path());
  const auto x = vector("x");
  const auto program = lowered({x}, {2. * exp(x), sum(sin(x))});
  {
    const auto code = in_tiers(program);
    CHECK(code->origin() == codegen::Origin::generated);
    const auto quick = code->entry();
    const auto other = in_tiers(program);
    codegen::wait_for_background_work();
    CHECK_FALSE((code->entry() == quick));
    CHECK((other->entry() == code->entry()));  // made once
    const auto usual = codegen::compile(program);
    CHECK(usual->origin() == codegen::Origin::memory);
    CHECK((usual->entry() == code->entry()));
  }
  const auto again = in_tiers(program);  // no quick code where there is better
  CHECK(again->origin() == codegen::Origin::store);
  const config::Change off("cache", "off");
  const auto kept_nowhere = in_tiers(program);
  const auto quick = kept_nowhere->entry();
  codegen::wait_for_background_work();
  CHECK_FALSE((kept_nowhere->entry() == quick));
}

TEST_CASE("tiers: results have the same bits before and after, and as without tiers") {
  const config::Change off("cache", "off");
  const auto x = vector("x");
  const Variables outputs{exp(x) * sin(x) + x, sum(tanh(x) * x), cumsum(x), var(x), logsumexp(x), softmax(x, {0})};
  const auto tiered = function({x}, outputs, {.mode = get_mode("FAST_START")});
  const auto usual = function({x}, outputs);
  for (const std::int64_t count : {1, 7, 8, 33, 1000}) {
    const Array at = numbers(count);
    const auto before = tiered({at}).take(), expected = usual({at}).take();
    codegen::wait_for_background_work();
    const auto after = tiered({at}).take();
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      CAPTURE(k);
      CHECK(before[k].str() == expected[k].str());
      CHECK(after[k].str() == expected[k].str());
      CHECK(std::equal(static_cast<const char*>(before[k].data()),
                       static_cast<const char*>(before[k].data()) + before[k].size() * 8,
                       static_cast<const char*>(expected[k].data())));
      CHECK(std::equal(static_cast<const char*>(after[k].data()),
                       static_cast<const char*>(after[k].data()) + after[k].size() * 8,
                       static_cast<const char*>(expected[k].data())));
    }
  }
}

TEST_CASE("tiers: a child made by fork keeps the quick code, and compiles on") {
  const config::Change off("cache", "off");
  const auto x = vector("x");
  const auto f = function({x}, {sum(exp(x))}, {.mode = get_mode("FAST_START")});
  const Array at = numbers(10);
  const double expected = f({at}).take()[0].data_as<double>()[0];
  const pid_t child = fork();
  if (child == 0) {
    const bool same = f({at}).take()[0].data_as<double>()[0] == expected;
    const auto g = function({x}, {sum(exp(x))}, {.mode = get_mode("FAST_START")});
    codegen::end_background_work();
    _exit(same && g({at}).take()[0].data_as<double>()[0] == expected ? 0 : 1);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  codegen::wait_for_background_work();
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
