#include "lowering/row_products.hpp"

#include "bitale/runtime/functions.hpp"
#include "program/steps.hpp"

namespace bitale::lowering {

using program::BufferArgument;
using program::Call;
using program::Expr;
using program::ExprPool;
using program::Step;

namespace {

// A call of a runtime function by the names of its parameters.
struct Named {
  const Call* call = nullptr;
  const runtime::RuntimeFunction* row = nullptr;

  explicit Named(const Step& step) : call(program::as_call(step)) {
    if (call) row = runtime::find_function(call->function);
  }
  runtime::ProductKind product() const { return row ? row->product : runtime::ProductKind::none; }
  std::size_t at(std::string_view name) const { return row->argument_index(name); }
  Expr scalar(std::string_view name) const { return std::get<Expr>(call->arguments[at(name)]); }
  BufferArgument memory(std::string_view name) const { return std::get<BufferArgument>(call->arguments[at(name)]); }
};

}  // namespace

std::optional<RowProduct> row_product(const Step& step, ExprPool& pool) {
  const Named call(step);
  const auto at = [&](std::string_view name) { return call.at(name); };
  const auto scalar = [&](std::string_view name) { return call.scalar(name); };
  const auto left_step = [&] {
    const Expr transposed = scalar("transA");
    return transposed.is_constant(0) ? scalar("lda") : transposed.is_constant(1) ? pool.integer(1) : Expr();
  };
  RowProduct out;
  switch (call.product()) {
    case runtime::ProductKind::matrix:
      out = {at("m"),         at("A"),     at("B"),     at("C"), scalar("m"), left_step(),
             pool.integer(0), scalar("n"), scalar("k"), {},      false,       scalar("n").is_constant(1)};
      break;
    case runtime::ProductKind::matrix_vector:
      out = {at("m"),         at("A"),         at("x"),     at("y"), scalar("m"), left_step(),
             pool.integer(0), pool.integer(1), scalar("k"), {},      false,       true};
      break;
    case runtime::ProductKind::batched_matrix:
      out = {at("batch"),
             at("A"),
             at("B"),
             at("C"),
             scalar("batch"),
             scalar("strideA"),
             scalar("strideB"),
             scalar("m") * scalar("n"),
             scalar("k"),
             {},
             true,
             false};
      break;
    case runtime::ProductKind::none: return std::nullopt;
  }
  if (!out.left_step.defined()) return std::nullopt;
  out.bytes_of_row = out.result_step * (call.row->of_float32 ? 4 : 8);
  return out;
}

std::optional<SumOverRows> sum_over_rows(const Step& step, ExprPool& pool) {
  const Named call(step);
  const bool is_product = call.product() == runtime::ProductKind::matrix;
  if (!is_product && call.product() != runtime::ProductKind::matrix_vector) return std::nullopt;
  if (!call.scalar("transA").is_constant(1)) return std::nullopt;
  if (!is_product)
    return SumOverRows{call.at("A"),       call.at("x"),    call.at("y"),     call.scalar("k"),
                       call.scalar("lda"), pool.integer(1), call.scalar("m"), pool.integer(1)};
  if (!call.scalar("transB").is_constant(0)) return std::nullopt;
  return SumOverRows{call.at("A"),       call.at("B"),       call.at("C"),     call.scalar("k"),
                     call.scalar("lda"), call.scalar("ldb"), call.scalar("m"), call.scalar("n")};
}

Step part_of_sum(const Step& step, ExprPool& pool, Expr rows, Expr first_left, Expr first_right, Expr add) {
  const Named call(step);
  const SumOverRows sum = *sum_over_rows(step, pool);
  const auto factor = [&](std::size_t at, Expr first) {
    auto argument = std::get<BufferArgument>(call.call->arguments[at]);
    if (first.defined()) argument.offset = argument.offset.defined() ? argument.offset + first : first;
    return argument;
  };
  auto result = std::get<BufferArgument>(call.call->arguments[sum.result_at]);
  result.kind = program::AccessKind::combine;
  const Expr yes = pool.integer(1), no = pool.integer(0);
  return {Call{call.row->of_float32 ? "bt_gemm_add_f32" : "bt_gemm_add_f64",
               {sum.m, sum.n, rows, yes, no, add, factor(sum.left_at, first_left), sum.left_step,
                factor(sum.right_at, first_right), sum.right_step, result}}};
}

}  // namespace bitale::lowering
