// The choice of the vector width: a record of this machine in the compile directory is used if it is intact and valid,
// the flag `target` takes precedence, and results depend on the width only in the order of sums.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "bitale/compile/vector_width.hpp"
#include "bitale/core/config.hpp"
#include "bitale/core/error.hpp"
#include "bitale/graph/function_graph.hpp"
#include "bitale/ops/ops.hpp"
#include "codegen/target.hpp"
#include "codegen/vector_width.hpp"
#include "compile/vector_width_due.hpp"
#include "ops/elementwise/elemwise.hpp"
#include "support/directory.hpp"
#include "support/math_reference.hpp"

using namespace bitale;

namespace {

// The width that another process would choose. This process has cached its choice for the directory, so each call
// spells the path differently.
int bytes_for_others(const std::string& directory) {
  static std::string suffix;
  suffix += "/.";
  const config::Change change("compiledir", directory + suffix);
  return codegen::native_vector_bytes();
}

// Reports and returns false if this processor has vectors of one width only.
bool has_a_choice() {
  const bool found = codegen::vector_widths().size() > 1;
  if (!found) MESSAGE("SKIP: this processor has no AVX-512, and so only one vector width");
  return found;
}

std::filesystem::path only_record(const std::string& directory) {
  std::vector<std::filesystem::path> found;
  for (auto& each : std::filesystem::directory_iterator(directory + "/machines")) found.push_back(each.path());
  REQUIRE(found.size() == 1);
  return found[0];
}

// The targets among these that this processor can run.
std::vector<std::string> reachable(std::vector<std::string> names) {
  std::erase_if(names, [](const std::string& name) {
    try {
      codegen::target_named(name);
      return false;
    } catch (const ValueError&) {
      return true;
    }
  });
  return names;
}

Array values_with(const ScalarOp& op, DType dtype, const std::string& target, const std::vector<Array>& inputs) {
  Variables variables;
  for (int i = 0; i < op.arity; ++i) variables.push_back(vector({}, dtype));
  const auto graph = std::make_shared<FunctionGraph>(variables, Variables{apply_elemwise(op.name, variables)});
  return link::link("jit", graph, {.target = target})->run(inputs)[0];
}

// Any nan equals any other.
template <class T>
bool same_bits(const Array& a, const Array& b) {
  const auto* values = a.data_as<T>();
  const auto* others = b.data_as<T>();
  for (std::int64_t i = 0; i < a.size(); ++i)
    if (!(std::isnan(values[i]) && std::isnan(others[i])) && std::memcmp(values + i, others + i, sizeof(T)) != 0)
      return false;
  return true;
}

}  // namespace

TEST_CASE("vector width: a record is read by other processes, and the flag takes precedence") {
  const std::vector<int>& widths = codegen::vector_widths();
  if (!has_a_choice()) return;
  const testing::TemporaryDirectory directory;
  const config::Change change("compiledir", directory.path());
  CHECK(codegen::native_vector_bytes() == widths[0]);
  CHECK_FALSE(codegen::is_vector_width_recorded());
  CHECK(codegen::record_vector_width(widths[1], false));
  CHECK(codegen::is_vector_width_recorded());
  CHECK(codegen::native_vector_bytes() == widths[0]);  // constant within a process
  CHECK(bytes_for_others(directory.path()) == widths[1]);
  CHECK(codegen::record_vector_width(widths[1], true));
  CHECK(codegen::native_vector_bytes() == widths[1]);
  CHECK(codegen::this_target().vector_bytes == widths[1]);
  CHECK(codegen::this_target().level == "native");
  for (const int bytes : {16, 32, 64}) {
    const config::Change target("target", "native-" + std::to_string(8 * bytes));
    CHECK(codegen::this_target().vector_bytes == bytes);
    CHECK(codegen::this_target().avx_512);
  }
}

TEST_CASE("vector width: a damaged or invalid record is ignored") {
  const std::vector<int>& widths = codegen::vector_widths();
  if (!has_a_choice()) return;
  const testing::TemporaryDirectory directory;
  const config::Change change("compiledir", directory.path());
  CHECK_FALSE(codegen::record_vector_width(48, false));
  CHECK(bytes_for_others(directory.path()) == widths[0]);
  CHECK(codegen::record_vector_width(widths[1], false));
  const std::filesystem::path record = only_record(directory.path());
  std::filesystem::resize_file(record, std::filesystem::file_size(record) - 1);
  CHECK_FALSE(codegen::is_vector_width_recorded());
  CHECK(bytes_for_others(directory.path()) == widths[0]);
  std::ofstream(record) << "32";
  CHECK(bytes_for_others(directory.path()) == widths[0]);
  CHECK(codegen::record_vector_width(widths[1], false));
  CHECK(bytes_for_others(directory.path()) == widths[1]);
}

TEST_CASE("vector width: without a compile directory, a recorded width holds for the process") {
  const std::vector<int>& widths = codegen::vector_widths();
  if (!has_a_choice()) return;
  const testing::TemporaryDirectory directory;
  std::ofstream(directory.path() + "/file").flush();
  const config::Change change("compiledir", directory.path() + "/file/below");
  CHECK(codegen::native_vector_bytes() == widths[0]);
  CHECK_FALSE(codegen::record_vector_width(widths[1], true));
  CHECK(codegen::native_vector_bytes() == widths[1]);
}

TEST_CASE("vector width: measured") {
  const testing::TemporaryDirectory directory;
  const config::Change change("compiledir", directory.path());
  const VectorWidth found = measure_vector_width();
  const std::vector<int>& widths = codegen::vector_widths();
  CHECK(found.bits == 8 * codegen::native_vector_bytes());
  if (!has_a_choice()) {
    CHECK(found.times.empty());
    return;
  }
  CHECK(found.is_kept);
  CHECK_FALSE(std::filesystem::exists(directory.path() + "/objects"));  // the code of the timed loops is not kept
  CHECK(found.bits == 8 * bytes_for_others(directory.path()));
  REQUIRE(found.times.size() == widths.size());
  for (std::size_t i = 0; i < widths.size(); ++i) {
    CHECK(found.times[i].bits == 8 * widths[i]);
    CHECK(found.times[i].elementary > 0);
    CHECK(found.times[i].plain > 0);
  }
}

TEST_CASE("vector width: it is measured for later processes if no record exists") {
  const std::vector<int>& widths = codegen::vector_widths();
  const testing::TemporaryDirectory directory;
  const config::Change change("compiledir", directory.path());
  const int before = codegen::native_vector_bytes();
  {
    const config::Change nothing_is_kept("cache", "False");
    measure_vector_width_if_unknown();
    CHECK_FALSE(codegen::is_vector_width_recorded());
  }
  measure_vector_width_if_unknown();
  CHECK(codegen::is_vector_width_recorded() == (widths.size() > 1));
  CHECK(codegen::native_vector_bytes() == before);
}

TEST_CASE("vector width: elementary functions have the same bits at any width and with any instruction set") {
  const std::vector<std::string> targets = reachable({"native", "native-256", "native-128", "x86-64-v3", "x86-64-v2"});
  if (targets.size() == 1) {
    MESSAGE("SKIP: this processor runs no other target than `native`");
    return;
  }
  constexpr std::int64_t count = 1003;
  for (const DType dtype : {DType::Float32, DType::Float64})
    for (const ScalarOp* op : test::mathematical_ops()) {
      const test::MathReference& reference = *test::math_reference(op->name);
      std::vector<Array> inputs;
      for (int i = 0; i < op->arity; ++i) inputs.push_back(Array::empty(dtype, {count}));
      const auto fill = [&]<class T>(T) {
        test::MathPoints<T> points(*op, reference);
        T point[2] = {};
        for (std::int64_t k = 0; k < count; ++k) {
          points.next(std::span(point, std::size_t(op->arity)));
          for (std::size_t i = 0; i < inputs.size(); ++i) inputs[i].mutable_data_as<T>()[k] = point[i];
        }
      };
      dtype == DType::Float32 ? fill(float()) : fill(double());
      const Array expected = values_with(*op, dtype, targets[0], inputs);
      for (std::size_t i = 1; i < targets.size(); ++i) {
        INFO(op->name << " " << dtype_name(dtype) << " " << targets[i]);
        const Array got = values_with(*op, dtype, targets[i], inputs);
        const bool is_same =
            dtype == DType::Float32 ? same_bits<float>(got, expected) : same_bits<double>(got, expected);
        CHECK(is_same);
      }
    }
}
