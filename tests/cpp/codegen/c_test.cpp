// Code compiled by the C linker agrees with the interpreter, and bit for bit with the native linker. Since each
// compilation takes a tenth of a second, many nodes are compiled as one function.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>

#include "bitale/bitale.hpp"
#include "bitale/core/config.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/graph/traversal.hpp"
#include "bitale/ops/registry.hpp"
#include "codegen/code.hpp"
#include "link/linker.hpp"
#include "lowering/lower.hpp"
#include "support/directory.hpp"

using namespace bitale;

namespace {

using Arrays = std::vector<Array>;

struct Batch {
  Variables inputs, outputs;
  Arrays values, expected;
  std::vector<std::string> names;  // of outputs
  std::vector<double> tolerances;
  std::vector<Sample> samples;
};

std::string described(const OpEntry& entry, const Sample& sample) {
  std::string text = cat(entry.name, " ", sample.node.op().label(), " ", sample.note);
  for (auto& input : sample.node.inputs()) text += " " + input.type()->str();
  return text;
}

// Skips samples that raise errors, since they would fail the whole batch.
void add(Batch& batch, const OpEntry& entry, const Sample& sample) {
  // Samples may share input variables, but have different values for them.
  const Variables before = graph_inputs(sample.node.outputs());
  Variables inputs;
  Replacements fresh;
  for (auto& input : before) {
    inputs.push_back(Variable(input.type(), input.name()));
    fresh.emplace_back(input, inputs.back());
  }
  const Variables outputs = clone_replace(sample.node.outputs(), fresh);
  const auto graph = std::make_shared<const FunctionGraph>(inputs, outputs);
  Arrays expected;
  try {
    expected = link::link("vm", graph)->run(sample.values);
  } catch (const Error&) {
    return;
  }
  for (auto& input : inputs) batch.inputs.push_back(input);
  for (auto& value : sample.values) batch.values.push_back(value);
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    batch.outputs.push_back(outputs[k]);
    batch.expected.push_back(expected[k]);
    batch.names.push_back(described(entry, sample));
    batch.tolerances.push_back(sample.tolerance);
  }
  batch.samples.push_back(sample);
}

// Returns how many samples were compared.
std::size_t check(const Batch& batch) {
  if (batch.outputs.empty()) return 0;
  const auto graph = std::make_shared<const FunctionGraph>(batch.inputs, batch.outputs);
  Arrays got, native;
  try {
    got = link::link("c", graph)->run(batch.values);
    native = link::link("jit", graph)->run(batch.values);
  } catch (const std::exception& error) {
    const std::string message = cat(batch.names.front(), " ... ", batch.names.back(), ": ", error.what());
    FAIL_CHECK(message);
    return 0;
  }
  for (std::size_t k = 0; k < got.size(); ++k) {
    INFO(batch.names[k]);
    CHECK(got[k].dtype() == batch.expected[k].dtype());
    REQUIRE(got[k].shape() == batch.expected[k].shape());
    const double tolerance =
        got[k].dtype() == DType::Float32 ? std::max(batch.tolerances[k], 1e-4) : batch.tolerances[k];
    CHECK_MESSAGE(allclose(got[k], batch.expected[k], tolerance, tolerance * 1e-3),
                  cat("by C    ", got[k].str(), "\nperform ", batch.expected[k].str()));
    CHECK_MESSAGE(identical(got[k], native[k]), cat("by C   ", got[k].str(), "\nnative ", native[k].str()));
  }
  return batch.samples.size();
}

// Every stride()-th sample is tested.
std::size_t stride() {
  const char* all = std::getenv("BITALE_TEST_C");
  return all && std::string(all) == "all" ? 1 : 16;
}

}  // namespace

TEST_CASE("c: ops of the registry; all samples with BITALE_TEST_C=all") {
  const config::Change quick("gcc__cxxflags", "-O1");
  constexpr std::size_t most = 64;  // samples per function
  Batch batch;
  std::size_t count = 0, chosen = 0, compared = 0;
  for (auto& entry : op_registry())
    for (auto& sample : entry.samples()) {
      if (count++ % stride() != 0) continue;
      ++chosen;
      add(batch, entry, sample);
      if (batch.samples.size() < most) continue;
      compared += check(batch);
      batch = {};
    }
  compared += check(batch);
  CHECK(compared * 10 > chosen * 9);
}

namespace {

Function by_c(const Variables& inputs, const Variables& outputs) {
  return function(inputs, outputs, {.mode = Mode("c", "fast_run")});
}

// The message of the exception that the action throws.
template <class Action>
std::string error_message(Action action) {
  try {
    action();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "nothing";
}

}  // namespace

TEST_CASE("c: sums of all lengths have the bits of the native linker") {
  const config::Change quick("gcc__cxxflags", "-O2");
  const Variable x = vector("x"), y = vector("y"), m = matrix("m");
  const Variables outputs{sum(x * y), prod(x), min(x), max(y), sum(m, std::vector<int>{1}), sum(exp(m)), cumsum(x)};
  const Function c = by_c({x, y, m}, outputs), native = function({x, y, m}, outputs);
  for (const std::int64_t n : {1, 2, 7, 8, 9, 31, 32, 33, 255, 256, 257, 1023, 1024, 1025, 3000, 20000}) {
    INFO(n);
    Array a = Array::empty(DType::Float64, {n}), b = Array::empty(DType::Float64, {n});
    for (std::int64_t i = 0; i < n; ++i) {
      static_cast<double*>(a.mutable_data())[i] = std::sin(0.1 + 1.7 * double(i));
      static_cast<double*>(b.mutable_data())[i] = 0.1 + std::cos(0.3 * double(i));
    }
    Array rows = Array::empty(DType::Float64, {3, n});
    for (std::int64_t i = 0; i < 3 * n; ++i) static_cast<double*>(rows.mutable_data())[i] = std::cos(double(i));
    const Results got = c({a, b, rows}), expected = native({a, b, rows});
    for (std::size_t k = 0; k < got.size(); ++k) {
      INFO(k);
      CHECK(identical(got[k], expected[k]));
    }
  }
}

TEST_CASE("c: sums by groups have the bits of the native linker") {
  const config::Change quick("gcc__cxxflags", "-O2");
  for (const DType dtype : {DType::Float64, DType::Float32}) {
    const Variable y = vector("y", dtype), mu = vector("mu", dtype), index = lvector("index");
    const Variable r = y - take(mu, index);
    const Variables outputs{sum(sqr(r)), grad(sum(sqr(r)), mu), inc_subtensor(mu, {IndexItem(index)}, r)};
    const Function c = by_c({y, mu, index}, outputs), native = function({y, mu, index}, outputs);
    for (const std::int64_t n : {1, 8, 17, 500, 3000})
      for (const std::int64_t groups : {1, 40, 300}) {
        INFO(n, ", ", groups);
        Array a = Array::empty(DType::Float64, {n}), b = Array::empty(DType::Float64, {groups}),
              at = Array::empty(DType::Int64, {n});
        for (std::int64_t i = 0; i < n; ++i) {
          a.mutable_data_as<double>()[i] = std::sin(0.1 + 1.7 * double(i));
          at.mutable_data_as<std::int64_t>()[i] = i % 100 < 90 ? i * groups / n : (i * 7919) % groups;
        }
        for (std::int64_t i = 0; i < groups; ++i) b.mutable_data_as<double>()[i] = std::cos(double(i));
        const Arrays values{a.astype(dtype), b.astype(dtype), at};
        const Results got = c(values), expected = native(values);
        for (std::size_t k = 0; k < got.size(); ++k) {
          INFO(k);
          CHECK(identical(got[k], expected[k]));
        }
      }
  }
}

TEST_CASE("c: error messages are those of the native linker") {
  const Variable x = vector("x"), y = vector("y");
  const Function c = by_c({x, y}, {x + y, max(x)}), native = function({x, y}, {x + y, max(x)});
  for (auto& [a, b] : {std::pair{Array{1.0, 2.0}, Array{1.0, 2.0, 3.0}},
                       std::pair{Array::zeros(DType::Float64, {0}), Array::zeros(DType::Float64, {0})}}) {
    const std::string message = error_message([&] { c({a, b}); });
    CHECK(message == error_message([&] { native({a, b}); }));
    CHECK(message != "nothing");
  }
}

TEST_CASE("c: loads hoisted out of a loop are guarded by its extent") {
  const Variable x = vector("x"), y = vector("y");
  const Function f = by_c({x, y}, {y + subtensor(x, {0}) * subtensor(x, {-1})});
  CHECK(f.dprint("c").find("? x[") != std::string::npos);
  CHECK(f({Array{2.0, 3.0}, Array{1.0, 2.0}})[0].size() == 2);
}

// GCC 12 loses elements of a conditional load beside a conversion, with vectors.
TEST_CASE("c: both sides of a choice are read before it") {
  const Dims any{unknown_length, unknown_length, unknown_length};
  for (DType narrow : {DType::Float16, DType::Float32, DType::Int8, DType::Int32})
    for (DType wide : {DType::Float64, DType::Float32}) {
      const Variable x = tensor("x", narrow, any), y = tensor("y", wide, any),
                     c = tensor("c", DType::Bool, {unknown_length, 2, 2});
      Array a = Array::empty(DType::Int64, {64}), b = a.copy(), which = a.copy();
      for (std::int64_t i = 0; i < 64; ++i) {
        a.mutable_data_as<std::int64_t>()[i] = i + 1;
        b.mutable_data_as<std::int64_t>()[i] = -2 * i - 1;
        which.mutable_data_as<std::int64_t>()[i] = i * i % 7 < 4;
      }
      const auto stack = [](const Array& values, DType dtype) { return values.astype(dtype).reshape({16, 2, 2}); };
      const Arrays given{stack(a, narrow), stack(b, wide), stack(which, DType::Bool)};
      for (const Variable& chosen : {switch_(c, x, y), switch_(c, y, x), switch_(c, 2 * x, y + 1)})
        CHECK(identical(by_c({x, y, c}, {chosen})(given)[0], function({x, y, c}, {chosen})(given)[0]));
    }
}

TEST_CASE("c: code is cached by compiler and flags") {
  const testing::TemporaryDirectory directory;
  const config::Change compiledir("compiledir", directory.path());
  const Variable x = vector("x");
  const auto graph = std::make_shared<const FunctionGraph>(Variables{x}, Variables{exp(x) * 3.25});
  const auto program = lowering::lower(*graph).program;
  const auto origin = [&] {
    return codegen::compile(program, codegen::this_target(), codegen::c_generator())->origin();
  };
  CHECK(origin() == codegen::Origin::generated);
  CHECK(origin() == codegen::Origin::store);
  CHECK(codegen::compile(program)->origin() == codegen::Origin::generated);  // the native linker has a separate entry
  {
    const config::Change other("gcc__cxxflags", "-O1");
    CHECK(origin() == codegen::Origin::generated);
  }
  const auto held = codegen::compile(program, codegen::this_target(), codegen::c_generator());
  CHECK(origin() == codegen::Origin::memory);
}

TEST_CASE("c: without a compiler the error is one sentence, and the native linker still works") {
  const config::Change none("cc", "no-such-compiler");
  const Variable x = vector("x");
  const std::string message = error_message([&] { by_c({x}, {x + 1.0}); });
  CHECK(message.find("linker c needs a C compiler, and there is no `no-such-compiler`") != std::string::npos);
  CHECK(message.find("flag cc") != std::string::npos);
  CHECK(function({x}, {x + 1.0})({Array{1.0}})[0].size() == 1);
}

TEST_CASE("c: messages of the compiler are reported") {
  const config::Change wrong("gcc__cxxflags", "--no-such-flag");
  const Variable x = vector("x");
  const std::string message = error_message([&] { by_c({x}, {x + 1.125}); });
  CHECK(message.find("no-such-flag") != std::string::npos);
}
