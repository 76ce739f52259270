// One test of all registered rules by verify_rule: equations on every dtype, shape and special value that they are
// declared for, with their claims; functions on their samples.
#include <doctest/doctest.h>

#include "bitale/core/config.hpp"
#include "bitale/rewriting/rules.hpp"
#include "rewriting/database.hpp"

using namespace bitale;

TEST_CASE("every rule holds, and its claims are true") {
  const config::Change strict("on_opt_error", "raise");
  int equations = 0;
  for (auto& rule : rewriting::OptDB::instance().rules()) {
    if (rule->name().starts_with("test_")) continue;  // registered by other tests
    const rewriting::CheckReport report = rewriting::verify_rule(*rule);
    CHECK_MESSAGE(report.ok(), report.str());
    for (auto& note : report.notes) CHECK_MESSAGE(!note.starts_with("raises"), report.str());
    equations += rule->equation() != nullptr;
  }
  CHECK(equations > 100);
}
