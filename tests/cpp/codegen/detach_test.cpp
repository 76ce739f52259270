// Emitting code does not modify a Program, so that threads may do it concurrently.
#include "program/detach.hpp"

#include <doctest/doctest.h>

#include <thread>

#include "bitale/bitale.hpp"
#include "codegen/code.hpp"
#include "codegen/key.hpp"
#include "lowering/lower.hpp"

using namespace bitale;

namespace {

program::Program example() {
  const auto x = matrix("x"), y = matrix("y");
  const auto i = vector("i", DType::Int64);
  const Variables outputs{
      softmax(x + transpose(y)), sum(x / sum(y)), cumsum(exp(x)), take(x, i), argmax(x, 1), gammaln(x)};
  return std::move(lowering::lower(FunctionGraph({x, y, i}, outputs)).program);
}

}  // namespace

TEST_CASE("a detached program is equal and has a separate pool") {
  const program::Program program = example(), detached = program::detached(program);
  CHECK(detached.pool != program.pool);
  CHECK(detached.pool->size() == program.pool->size());
  CHECK(program::to_string(detached) == program::to_string(program));
  CHECK(codegen::digest_of(detached) == codegen::digest_of(program));
  for (auto& step : detached.steps)
    if (auto* loop = std::get_if<program::Loop>(&step.what)) CHECK(&loop->extent.pool() == detached.pool.get());
}

TEST_CASE("emission does not modify a program") {
  const program::Program program = example();
  const std::size_t size = program.pool->size();
  const std::string llvm = codegen::llvm_text(program), c = codegen::c_text(program);
  CHECK(program.pool->size() == size);
  std::vector<std::thread> threads;
  std::vector<int> same(4, 0);
  for (std::size_t t = 0; t < same.size(); ++t)
    threads.emplace_back([&, t] {
      for (int k = 0; k < 5; ++k) same[t] += codegen::llvm_text(program) == llvm && codegen::c_text(program) == c;
    });
  for (auto& thread : threads) thread.join();
  CHECK(same == std::vector<int>(4, 5));
}
