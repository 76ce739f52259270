// Loops that differ only in their buffers and in the values computed before them are outlined into one function, and
// give the same bits as when they are compiled separately.
#include <doctest/doctest.h>

#include <cstring>

#include "bitale/bitale.hpp"
#include "codegen/key.hpp"
#include "codegen/outlined_loops.hpp"
#include "codegen/schedule.hpp"
#include "link/linker.hpp"
#include "lowering/lower.hpp"

using namespace bitale;

namespace {

using Arrays = std::vector<Array>;

// About three hundred expressions, with a scalar that is known before the loop.
Variable expensive(const Variable& x, const Variable& number) {
  return tanh(x * number) + erf(exp(-abs(x))) * log1p(exp(sin(x))) - arctan2(x, cosh(x) + number);
}

// The sum needs every element of y, so it ends a loop.
Variable layer(const Variable& x, const Variable& number) {
  const Variable y = expensive(x, number);
  return y / sum(abs(y)) * 3.0;
}

int count(const std::string& text, std::string_view what) {
  int found = 0;
  for (std::size_t at = 0; (at = text.find(what, at)) != text.npos; ++at) ++found;
  return found;
}

std::unique_ptr<link::Thunk> linked(const Variables& inputs, const Variables& outputs, int threads = 1) {
  return link::link("jit", std::make_shared<FunctionGraph>(inputs, outputs),
                    {.threads = threads, .eager_threads = true});
}

bool same_bits(const Array& a, const Array& b) {
  return a.shape() == b.shape() && a.dtype() == b.dtype() &&
         std::memcmp(a.contiguous().data(), b.contiguous().data(), std::size_t(a.nbytes())) == 0;
}

Array numbers(DType dtype, std::int64_t count) {
  Array out = Array::empty(DType::Float64, {count});
  for (std::int64_t i = 0; i < count; ++i) out.mutable_data_as<double>()[i] = std::sin(double(7 * i + 1)) * 3;
  return out.astype(dtype);
}

}  // namespace

TEST_CASE("outlined loops: successive layers give the bits of each layer alone, with any number of threads") {
  for (auto dtype : {DType::Float64, DType::Float32}) {
    const auto x = tensor("x", dtype, {unknown_length}), number = tensor("number", dtype, {});
    const auto alone = linked({x, number}, {layer(x, number)});
    CHECK(alone->text("llvm").find("@loop0") == std::string::npos);
    Variable y = x;
    Variables scales;
    for (int i = 0; i < 12; ++i) {
      scales.push_back(tensor("scale", dtype, {}));
      y = layer(y, scales.back());
    }
    Variables inputs = scales;
    inputs.push_back(x);
    for (int threads : {1, 3}) {
      const auto all = linked(inputs, {y}, threads);
      const std::string text = all->text("llvm");
      CHECK(count(text, "define internal void @loop0(") == 1);
      CHECK(count(text, "call void @loop0(") >= 10);
      for (std::int64_t length : {1, 8, 100, 3001}) {
        Array expected = numbers(dtype, length);
        Arrays values;
        for (int i = 0; i < 12; ++i) values.push_back(Array(1 + 0.1 * i).astype(dtype));
        values.push_back(expected);
        for (int i = 0; i < 12; ++i) expected = alone->run(Arrays{expected, values[std::size_t(i)]})[0];
        CHECK(same_bits(all->run(values)[0], expected));
      }
    }
  }
}

TEST_CASE("outlined loops: rows of different lengths, and values carried along rows") {
  const auto x = matrix("x"), w = vector("w");
  const auto rows = [](const Variable& m, const Variable& v) {
    const Variable y = expensive(m, expand_dims(v, 1));
    return y / sum(y * y, {{1}}, KeepDims::Yes);
  };
  const auto alone = linked({x, w}, {rows(x, w)});
  Variables inputs, outputs;
  Arrays values, expected;
  for (int i = 0; i < 8; ++i) {
    inputs.push_back(matrix("x"));
    inputs.push_back(vector("w"));
    outputs.push_back(rows(inputs[inputs.size() - 2], inputs.back()));
    values.push_back(numbers(DType::Float64, 5 * (3 + 2 * i)).reshape({5, 3 + 2 * i}));
    values.push_back(numbers(DType::Float64, 5));
    expected.push_back(alone->run(Arrays{values[values.size() - 2], values.back()})[0]);
  }
  for (int threads : {1, 2}) {
    const auto all = linked(inputs, outputs, threads);
    CHECK(count(all->text("llvm"), "call void @loop0(") == 8);
    const Arrays got = all->run(values);
    for (std::size_t i = 0; i < got.size(); ++i) CHECK(same_bits(got[i], expected[i]));
  }
}

TEST_CASE("outlined loops: constants, dtypes and the identity of buffers distinguish loops") {
  const auto loop_digest = [](const Variables& inputs, const Variable& output) {
    const auto program = codegen::scheduled(lowering::lower(FunctionGraph(inputs, {output})).program, 32);
    for (auto& step : program.steps)
      if (auto* loop = std::get_if<program::Loop>(&step.what)) {
        const auto found = codegen::outline_loop(program, *loop);
        return found ? codegen::digest_of(found->program) : Digest();
      }
    return Digest();
  };
  const auto a = vector("a"), b = vector("b");
  const auto f = fvector("f");
  CHECK(loop_digest({a}, exp(a) * 2) != Digest());
  CHECK(loop_digest({a}, exp(a) * 2) == loop_digest({b}, exp(b) * 2));
  CHECK(loop_digest({a}, exp(a) * 2) != loop_digest({a}, exp(a) * 3));
  CHECK(loop_digest({a}, exp(a)) != loop_digest({f}, exp(f)));
  CHECK(loop_digest({a, b}, exp(a) - b) != loop_digest({a}, exp(a) - a));
  // A float64 that is known before the loop halves the number of lanes, which changes the order of sums.
  const auto s = scalar("s"), narrow = fscalar("narrow");
  CHECK(loop_digest({f, narrow}, sum(f * narrow)) != Digest());
  CHECK(loop_digest({f, s}, sum(f * cast(exp(s), DType::Float32))) != loop_digest({f, narrow}, sum(f * exp(narrow))));
}
