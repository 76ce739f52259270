// Profiles of functions: what is counted, their formats, and their output at exit.
#include "bitale/compile/profile.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "bitale/bitale.hpp"
#include "bitale/core/config.hpp"
#include "bitale/core/error.hpp"
#include "support/directory.hpp"

using namespace bitale;

namespace {

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

const Profile::Phase* phase(const Profile& profile, std::string_view name) {
  for (auto& each : profile.compiling.parts)
    if (each.name == name) return &each;
  return nullptr;
}

std::string content(const std::string& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("profile: it reports the time of compilation and of calls") {
  const Variable x = vector("x"), w = shared(Array({1.0, 2.0}), "w");
  const Function f = function({x}, sum(log(1.0 + x) * w), {.updates = {{w, w * 0.5}}, .name = "logs", .profile = true});
  CHECK(f.is_profiled());
  CHECK(f.profile().calls == 0);
  CHECK(has(profile_text(f.profile()), "has not been called"));
  for (int i = 0; i < 3; ++i) f({Array({1.0, 2.0})});
  CHECK_THROWS_AS(f({Array({1.0, 2.0, 3.0})}), ShapeError);
  const Profile profile = f.profile();
  CHECK(profile.calls == 3);
  CHECK(profile.name == "logs");
  CHECK(profile.linker == "jit");
  CHECK(profile.results == 8 + 16);
  CHECK(profile.call_seconds >= profile.linked_seconds);
  CHECK(profile.linked_seconds > 0);
  for (auto name : {"building", "rewriting", "lowering", "code generation", "linking"}) REQUIRE(phase(profile, name));
  CHECK(phase(profile, "rewriting")->parts.size() > 1);
  CHECK(profile.limits.read_bandwidth > 1e8);
  CHECK(profile.limits.flops > 1e8);
  const std::string text = profile_text(profile);
  for (auto part :
       {"logs", "Time in 3 calls", "Compiling: ", "log1p", "Parts of the code", "Limits, measured", "results: "})
    CHECK_MESSAGE(has(text, part), part);
  CHECK(profile_text(profile, {.sections = {"memory"}}).starts_with("Memory"));
  CHECK_THROWS_AS(profile_text(profile, {.sections = {"memories"}}), ValueError);
  const std::string page = profile_html(profile);
  for (auto part : {"<!DOCTYPE html>", "Content-Security-Policy", "3 calls", "rewriting", "log1p"})
    CHECK_MESSAGE(has(page, part), part);
}

TEST_CASE("profile: the interpreter times nodes") {
  const Variable x = vector("x");
  const Function f = function({x}, sum(exp(x)), {.mode = Mode("vm", "fast_run"), .profile = true});
  f({Array({1.0, 2.0})});
  const Profile profile = f.profile();
  REQUIRE(profile.parts.size() == f.graph().node_count());
  for (auto& part : profile.parts) {
    CHECK(part.kind == "node");
    CHECK(part.nodes.size() == 1);
  }
  CHECK(profile.limits.flops == 0);
  const std::string text = profile_text(profile);
  for (auto part : {"Class\n", "Ops\n", "Apply\n", "Elemwise", "Tips"}) CHECK_MESSAGE(has(text, part), part);
  CHECK(has(profile_html(profile), "exp(x)"));
}

TEST_CASE("profile: the origin of the code") {
  const testing::TemporaryDirectory folder;
  const config::Change compiledir("compiledir", folder.path());
  const Variable x = vector("x");
  const auto compiled = [&] { return function({x}, tanh(x) * 1.25, {.profile = true}); };
  const Function first = compiled();
  CHECK(first.profile().code == "generated");
  CHECK(phase(first.profile(), "code generation")->seconds > 0);
  CHECK(compiled().profile().code == "memory");
}

TEST_CASE("profile: functions compiled without the option have none") {
  const Variable x = vector("x");
  const Function f = function({x}, exp(x), {.name = "plain"});
  CHECK(!f.is_profiled());
  CHECK_THROWS_WITH_AS(f.profile(), doctest::Contains("plain"), ValueError);
}

TEST_CASE("profile: shares of the limits") {
  const MachineLimits limits{.read_bandwidth = 1e9, .flops = 1e10, .threads = 1};
  const Profile::Part part{
      .kind = "loop", .calls = 1, .seconds = 2, .counted = true, .bytes = 1e9, .flops64 = 1e9, .flops32 = 2e9};
  CHECK(share_of_limits(part, limits).memory == 0.5);
  CHECK(share_of_limits(part, limits).arithmetic == 0.1);
  CHECK(share_of_limits({.kind = "scalars", .seconds = 1}, limits).memory == 0);
  CHECK_THROWS_AS(machine_limits(0), ValueError);
}

TEST_CASE("profile: the flag prints profiles at exit, also those of destroyed functions") {
  const testing::TemporaryDirectory folder;
  const std::string file = folder.path() + "/profiles";
  const config::Change destination("profiling__destination", file);
  const Variable x = vector("x");
  print_profiles();
  std::filesystem::remove(file);
  {
    const config::Change flag("profile", "True");
    const Function kept = function({x}, exp(x), {.name = "kept"}),
                   refused = function({x}, exp(x), {.name = "refused", .profile = false});
    {
      const Function gone = function({x}, sum(x), {.name = "gone"});
      gone({Array({1.0})});
    }
    kept({Array({1.0})});
    CHECK(!refused.is_profiled());
    print_profiles();
  }
  const std::string text = content(file);
  CHECK(has(text, "Message: kept"));
  CHECK(has(text, "Message: gone"));
  CHECK(!has(text, "refused"));
  print_profiles();
  CHECK(content(file) == text);  // printed only once
}
