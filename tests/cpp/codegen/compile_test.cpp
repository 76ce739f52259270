// The origin of code (generated, from the store, or from another function of the process), its key, and loading of
// objects.
#include <dlfcn.h>
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "bitale/bitale.hpp"
#include "bitale/runtime/functions.hpp"
#include "codegen/code.hpp"
#include "codegen/generate.hpp"
#include "codegen/key.hpp"
#include "codegen/object/archive.hpp"
#include "lowering/lower.hpp"
#include "runtime/threads.hpp"
#include "support/directory.hpp"

using namespace bitale;
using codegen::Origin;
using testing::TemporaryDirectory;
namespace fs = std::filesystem;

namespace {

program::Program lowered(const Variables& inputs, const Variables& outputs) {
  return std::move(lowering::lower(FunctionGraph(inputs, outputs)).program);
}

program::Program example(double factor = 2, const char* name = "x") {
  const auto x = vector(name);
  return lowered({x}, {factor * exp(x), sum(sin(x))});
}

Origin origin(const program::Program& program) { return codegen::compile(program)->origin(); }

std::vector<fs::path> entries(const std::string& compiledir) {
  std::vector<fs::path> out;
  if (fs::exists(compiledir + "/objects"))
    for (auto& each : fs::directory_iterator(compiledir + "/objects"))
      if (each.path().filename() != "lock") out.push_back(each.path());
  return out;
}

std::string read(const fs::path& path) {
  std::ostringstream out;
  out << std::ifstream(path, std::ios::binary).rdbuf();
  return out.str();
}

}  // namespace

TEST_CASE("compile: code is generated once, then taken from the process or the store") {
  const TemporaryDirectory directory;
  const config::Change change("compiledir", directory.path());
  const auto program = example();
  {
    const auto first = codegen::compile(program);
    CHECK(first->origin() == Origin::generated);
    CHECK(entries(directory.path()).size() == 1);
    const auto second = codegen::compile(example());
    CHECK(second->origin() == Origin::memory);
    CHECK((second->entry() == first->entry()));
  }
  CHECK(origin(program) == Origin::store);
  CHECK(origin(example(3)) == Origin::generated);
  CHECK(origin(example(2, "another name")) == Origin::store);
  CHECK(entries(directory.path()).size() == 2);
  const config::Change off("cache", "off");
  CHECK(origin(program) == Origin::generated);
}

TEST_CASE("compile: the code of a damaged entry is generated again") {
  const TemporaryDirectory directory;
  const config::Change change("compiledir", directory.path());
  const auto program = example();
  CHECK(origin(program) == Origin::generated);
  const fs::path entry = entries(directory.path()).at(0);
  const std::string whole = read(entry);
  for (const std::size_t length : {std::size_t(0), std::size_t(10), whole.size() / 2, whole.size() - 1}) {
    fs::resize_file(entry, length);
    CHECK(origin(program) == Origin::generated);
    CHECK(origin(program) == Origin::store);
  }
  std::string flipped = whole;
  flipped[whole.size() / 2] ^= 4;
  std::ofstream(entry, std::ios::binary) << flipped;
  CHECK(origin(program) == Origin::generated);
  CHECK(read(entry) == whole);
}

TEST_CASE("compile: functions work without a usable compile directory") {
  const TemporaryDirectory directory;
  std::ofstream(directory.path() + "/file") << "no directory";
  const config::Change change("compiledir", directory.path() + "/file/below");
  const auto x = vector("x");
  const auto f = function({x}, x + 1.0);
  CHECK(identical(f({Array{0., 1.}}), Array{1., 2.}));
}

TEST_CASE("compile: concurrent processes generate each program once") {
  const TemporaryDirectory directory;
  const config::Change change("compiledir", directory.path());
  std::vector<pid_t> children;
  for (int i = 0; i < 8; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      int generated = 0;
      for (int factor = 2; factor < 5; ++factor) generated += origin(example(factor)) == Origin::generated;
      _exit(generated);
    }
    children.push_back(child);
  }
  int generated = 0;
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    REQUIRE(WIFEXITED(status));
    generated += WEXITSTATUS(status);
  }
  CHECK(generated == 3);
  CHECK(entries(directory.path()).size() == 3);
}

TEST_CASE("key: it depends on everything that the code depends on, and on nothing else") {
  const codegen::Target& target = codegen::this_target();
  const Digest key = codegen::key_of(example(), target);
  CHECK(codegen::key_of(example(), target) == key);
  CHECK(codegen::key_of(example(2, "y"), target) == key);
  CHECK(codegen::key_of(example(2.5), target) != key);
  CHECK(codegen::key_of(example(), {target.level, target.vector_bytes / 2}) != key);
  CHECK(codegen::key_of(example(), {"x86-64", target.vector_bytes}) != key);
  const auto x = vector("x"), s = scalar("s");
  const auto with = [&](const Array& values) { return codegen::key_of(lowered({x}, {x + constant(values)}), target); };
  CHECK(with(Array{1., 2., 3.}) == with(Array{4., 5., 6.}));  // the address is an argument of the call
  CHECK(with(Array{1., 2., 3.}) != with(Array{1., 2., 3., 4.}));
  CHECK(codegen::key_of(lowered({x}, {x + 1.0, x}), target) != codegen::key_of(lowered({x}, {x, x + 1.0}), target));
  CHECK(codegen::key_of(lowered({x, s}, {x + s}), target) != codegen::key_of(lowered({s, x}, {x + s}), target));
}

TEST_CASE("target: levels of the processor by name") {
  const bool is_arm = codegen::this_processor() == codegen::Processor::aarch64;
  const std::string lowest = is_arm ? "aarch64" : "x86-64", foreign = is_arm ? "x86-64" : "aarch64";
  CHECK(codegen::target_named("native").vector_bytes >= 16);
  CHECK(codegen::target_named(lowest).vector_bytes == 16);
  CHECK(codegen::foreign_target(foreign).vector_bytes == 16);
  const std::string all = "this processor runs native, " + lowest;
  for (auto& other : {foreign, std::string("sparc")})
    CHECK_THROWS_WITH_AS(codegen::target_named(other), doctest::Contains(all.c_str()), ValueError);
}

TEST_CASE("object: a damaged file is loaded or refused") {
  const auto x = vector("x"), a = matrix("a");
  const std::string whole = codegen::llvm_generator().generate(lowered({x}, {exp(x)}), codegen::this_target());
  const codegen::Resolve nothing = [](const std::string&) -> void* { return nullptr; };
  const auto load = [&](const std::string& file, const char* entry = codegen::entry_name) {
    return codegen::Object::load(file, nothing, entry);
  };
  CHECK(load(whole)->entry());
  CHECK_THROWS_AS(load(whole, "another"), ValueError);
  for (std::size_t length = 0; length < whole.size(); length += 1 + length / 50)
    CHECK_THROWS_AS(load(whole.substr(0, length)), ValueError);

  const std::string calling = codegen::llvm_generator().generate(lowered({a}, {dot(a, a)}), codegen::this_target());
  CHECK_THROWS_WITH_AS(load(calling), doctest::Contains("nobody defines"), ValueError);

  std::mt19937 random(1);
  const std::size_t tables = std::min<std::size_t>(whole.size(), 2000);  // at the end of the file
  for (int round = 0; round < 3000; ++round) {
    std::string damaged = whole;
    damaged[round % 2 ? random() % 64 : whole.size() - 1 - random() % tables] = char(random());
    try {
      load(damaged);
    } catch (const ValueError&) {
    } catch (const OutOfMemoryError&) {
    }
  }
}

TEST_CASE("object: an archive of files that call each other is loaded as a unit or refused") {
  const auto x = vector("x");
  const std::string one = codegen::llvm_generator().generate(lowered({x}, {exp(x)}), codegen::this_target());
  CHECK(codegen::members_of(one) == std::vector<std::string_view>{one});

  Variable y = x;  // long enough to be compiled in parallel parts if there are several processors
  for (int i = 0; i < 900; ++i) y = y * (1 - 0.0001 * i) + 0.1 * sin(y);
  const std::string whole = codegen::llvm_generator().generate(lowered({x}, {y}), codegen::this_target());
  const auto members = codegen::members_of(whole);
  CHECK((members.size() > 1) == (runtime::processor_count() > 1));
  std::vector<std::string> files(members.begin(), members.end());
  if (files.size() > 1) CHECK(codegen::archive_of(files) == whole);

  const auto load = [](const std::string& file) {
    const codegen::Resolve known = [](const std::string& name) {
      void* const address = runtime::find_symbol(name);
      return address ? address : dlsym(RTLD_DEFAULT, name.c_str());
    };
    return codegen::Object::load(file, known, codegen::entry_name);
  };
  CHECK(load(whole)->entry());
  if (files.size() == 1) return;
  // Truncated, or with a missing or duplicate file.
  for (std::size_t length = 0; length < whole.size(); length += 1 + length / 50)
    CHECK_THROWS_AS(load(whole.substr(0, length)), ValueError);
  std::vector<std::string> wrong = files;
  wrong.push_back(files[0]);
  CHECK_THROWS_WITH_AS(load(codegen::archive_of(wrong)), doctest::Contains("two files define"), ValueError);
  for (auto& file : files) CHECK_THROWS_AS(load(codegen::archive_of(std::span(&file, 1))), ValueError);
  std::mt19937 random(1);
  for (int round = 0; round < 1000; ++round) {
    std::string damaged = whole;
    damaged[random() % (round % 2 ? 200 : damaged.size())] = char(random());
    try {
      load(damaged);
    } catch (const ValueError&) {
    } catch (const OutOfMemoryError&) {
    }
  }
}
