#include "lowering/contractions.hpp"

#include <algorithm>

#include "bitale/runtime/functions.hpp"
#include "graph/pointer_map.hpp"
#include "lowering/costs.hpp"
#include "lowering/definitions.hpp"
#include "ops/linalg/dot.hpp"
#include "ops/linalg/linalg_core.hpp"
#include "program/steps.hpp"

namespace bitale::lowering {

using program::BufferArgument;
using program::Call;
using program::Expr;
using program::ExprPool;
using program::Step;

// ---- how a product is computed --------------------------------------------------------------------------------------

namespace {

enum class Form {
  elements,  // a sum for each element, in loops
  rows,      // of a vector and a matrix: rows of the matrix are added, in loops
  library,
};

bool is_known(std::int64_t length, std::int64_t most) { return length >= 0 && length <= most; }

// A product as far as it is known before a call.
struct Known {
  Variable x, y;
  std::size_t batch_axes;
  bool x_vector, y_vector;
  std::int64_t m() const { return x_vector ? 1 : x.static_shape()[batch_axes]; }
  std::int64_t k() const { return x.static_shape().back(); }
  std::int64_t n() const { return y_vector ? 1 : y.static_shape().back(); }

  bool is_tiny() const {
    const auto is_short = [](std::int64_t length) { return is_known(length, costs::products::longest_of_tiny); };
    return batch_axes == 0 && std::ranges::all_of(x.static_shape(), is_short) &&
           std::ranges::all_of(y.static_shape(), is_short);
  }
  // One length, which may be the batch, can be longer.
  bool is_small_in_lanes() const {
    const std::int64_t lengths[] = {batch_axes > 0 ? unknown_length : 1, m(), k(), n()};
    return std::ranges::count_if(
               lengths, [](std::int64_t length) { return !is_known(length, costs::products::longest_of_small); }) <= 1;
  }
  bool is_small_times_vector() const {
    return n() == 1 && is_known(m(), costs::products::longest_of_small) &&
           is_known(k(), costs::products::longest_of_small);
  }
  bool is_thin() const { return !x_vector && is_thin(k()); }
  bool is_thin(std::int64_t columns) const {
    return x.dtype() == DType::Float64 && columns >= costs::products::fewest_of_thin &&
           columns <= costs::products::most_of_thin;
  }
};

// Whether the elements of `v` are computed, each by itself, of those of a product of this matrix with a vector. Where
// anything else that `v` is computed of needs the whole product, such as the sum in a softmax, no loop computes both.
bool is_by_product_of(const Variable& matrix, const Variable& v) {
  struct Open {
    Variable variable;
    bool elementwise;  // on the way from v
  };
  std::vector<Open> open{{v, true}};
  PointerSet by_itself, other;
  bool found = false;
  for (std::size_t seen = 0; !open.empty();) {
    const auto [each, elementwise] = open.back();
    open.pop_back();
    if (!each.has_owner() || !(elementwise ? by_itself : other).insert(each.node())) continue;
    if (++seen > costs::products::look_back) return false;
    const Apply node = each.owner();
    if (dynamic_cast<const Dot*>(&node.op()) && node.input(0).same_as(matrix) && node.input(1).ndim() == 1) {
      if (!elementwise) return false;
      found = true;
      continue;
    }
    for (const Variable& input : node.inputs()) open.push_back({input, elementwise && node.op().elementwise()});
  }
  return found;
}

}  // namespace

// A matrix that is read only once is read where it is computed. In the body of a loop, calls cost relatively more.
void Definitions::contract(const Contraction& product) {
  const Apply node = Apply::of(node_);
  const std::size_t batch_axes = product.batch_axes;
  const auto x = shape_in(0), y = shape_in(1), z = shape_out(0);
  const bool x_vector = x.size() == batch_axes + 1, y_vector = y.size() == batch_axes + 1;
  const Known known{node.input(0), node.input(1), batch_axes, x_vector, y_vector};
  const DType dtype = node.output().dtype();
  const bool is_repeated = outer_ != nullptr;
  const auto form = [&] {
    if (!uses_blas(dtype) || (x_vector && y_vector)) return Form::elements;
    if (in_lanes_ && known.is_small_in_lanes()) return Form::elements;
    if (batch_axes > 0) return known.is_small_times_vector() ? Form::elements : Form::library;
    if (is_repeated && known.is_tiny()) return Form::elements;
    const auto in_loops = [&](int input) {
      return is_computed(input) || (!is_repeated && has_few_long_rows(node.input(input)));
    };
    if (x_vector && in_loops(1)) return Form::rows;
    // A thin matrix is read once where its product with a vector gives the vector of its transpose.
    const auto reads_rows_again = [&] {
      if (!y_vector || !known.is_thin(known.m()) || !matrix(0).transposed) return false;
      return is_by_product_of(node.input(0).owner().input(0), node.input(1));
    };
    return y_vector && (in_loops(0) || known.is_thin() || reads_rows_again()) ? Form::elements : Form::library;
  };
  const Expr one = pool().integer(1), k = x.back();
  const Expr m = x_vector ? one : x[batch_axes], n = y_vector ? one : y.back();
  switch (form()) {
    case Form::rows:
      return scan(0, {.domain = {k, n}, .along = {true, false}, .dtype = dtype, .value = [this](Index at) {
                        return in(0, at.first(1)) * in(1, at);
                      }});
    case Form::elements: return sum_products(product, dtype);
    case Form::library: break;
  }
  const auto call_of = [&](std::string_view name, std::vector<CallArgument> arguments) {
    call(lapack_name(name, dtype), std::move(arguments));
  };
  const auto flag = [&](bool value) { return pool().integer(value); };
  if (batch_axes > 0) {
    Expr batch = one;
    for (const Expr length : z.first(batch_axes)) batch = batch * length;
    const Expr zero = pool().integer(0);
    return call_of("batched_gemm", {batch, m, n, k, InputData{0}, product.repeats_left ? zero : m * k, InputData{1},
                                    product.repeats_right ? zero : k * n, OutputData{0}});
  }
  if (y_vector) {
    const bool transposed = matrix(0).transposed;
    return call_of("gemv", {m, k, flag(transposed), InputData{0}, transposed ? m : k, InputData{1}, OutputData{0}});
  }
  if (x_vector) {  // x · Y = Yᵀ · x
    const bool transposed = matrix(1).transposed;
    return call_of("gemv", {n, k, flag(!transposed), InputData{1}, transposed ? k : n, InputData{0}, OutputData{0}});
  }
  const bool a = matrix(0).transposed, b = matrix(1).transposed;
  call_of("gemm", {m, n, k, flag(a), flag(b), InputData{0}, a ? m : k, InputData{1}, b ? k : n, OutputData{0}});
}

// The sum over l of x[b.., i, l] y[b.., l, j] for each element.
void Definitions::sum_products(const Contraction& product, DType dtype) {
  const auto x = shape_in(0), y = shape_in(1), z = shape_out(0);
  const std::size_t batch_axes = product.batch_axes;
  const bool x_vector = x.size() == batch_axes + 1, y_vector = y.size() == batch_axes + 1;
  std::vector<Expr> domain(z.begin(), z.begin() + std::ptrdiff_t(batch_axes));
  if (!x_vector) domain.push_back(x[batch_axes]);
  if (!y_vector) domain.push_back(y.back());
  std::vector<bool> reduced(domain.size(), false);
  domain.push_back(x.back());
  reduced.push_back(true);
  const bool logical = dtype == DType::Bool;
  const DType computing = computing_dtype(dtype);
  scan(0, {.combiner = logical ? program::Combiner::bit_or : program::Combiner::add,
           .domain = std::move(domain),
           .along = std::move(reduced),
           .dtype = computing,
           .value = [this, product, x_vector, y_vector, logical, computing](Index at) {
             const auto batch = at.first(product.batch_axes);
             const std::vector<Expr> first(batch.size(), pool().integer(0)), own(batch.begin(), batch.end());
             std::vector<Expr> row = product.repeats_left ? first : own, column = product.repeats_right ? first : own;
             if (!x_vector) row.push_back(at[batch.size()]);
             row.push_back(at.back());
             column.push_back(at.back());
             if (!y_vector) column.push_back(at[at.size() - 2]);
             const Expr a = in(0, row), b = in(1, column);
             return logical ? a & b : program::cast(a, computing) * program::cast(b, computing);
           }});
}

// ---- calls of products as work on rows ------------------------------------------------------------------------------

namespace {

// A call of a product by the names of its parameters.
class ProductCall {
 public:
  explicit ProductCall(const Step& step) : call_(program::as_call(step)) {
    if (call_) row_ = runtime::find_function(call_->function);
  }
  explicit operator bool() const { return row_ && row_->product != runtime::ProductKind::none; }
  bool is_stack() const { return row_->product == runtime::ProductKind::batched_matrix; }
  bool is_vector() const { return row_->product == runtime::ProductKind::matrix_vector; }
  std::size_t at(std::string_view name) const { return row_->argument_index(name); }
  std::size_t right() const { return at(is_vector() ? "x" : "B"); }
  std::size_t result() const { return at(is_vector() ? "y" : "C"); }
  Expr scalar(std::string_view name) const { return std::get<Expr>(call_->arguments[at(name)]); }
  BufferArgument memory(std::size_t argument) const { return std::get<BufferArgument>(call_->arguments[argument]); }
  bool of_float32() const { return row_->of_float32; }

 private:
  const Call* call_;
  const runtime::RuntimeFunction* row_ = nullptr;
};

}  // namespace

bool is_product(const Step& step) { return bool(ProductCall(step)); }

std::optional<RowProduct> row_product(const Step& step, ExprPool& pool) {
  const ProductCall call(step);
  if (!call) return std::nullopt;
  const auto scalar = [&](std::string_view name) { return call.scalar(name); };
  const Expr zero = pool.integer(0), one = pool.integer(1), m = scalar("m"), n = call.is_vector() ? one : scalar("n");
  RowProduct out{.rows_at = call.at("m"),
                 .left_at = call.at("A"),
                 .right_at = call.right(),
                 .result_at = call.result(),
                 .rows = m,
                 .right_step = zero,
                 .result_step = n,
                 .inner = scalar("k"),
                 .is_stack = call.is_stack(),
                 .is_vector = n.is_constant(1) && !call.is_stack()};
  if (out.is_stack) {
    out.rows_at = call.at("batch"), out.rows = scalar("batch"), out.result_step = m * n;
    out.left_step = scalar("strideA"), out.right_step = scalar("strideB");
  } else {
    const Expr transposed = scalar("transA");
    if (transposed.is_constant(0)) out.left_step = scalar("lda");
    if (transposed.is_constant(1)) out.left_step = one;
    if (!out.left_step.defined()) return std::nullopt;
  }
  out.bytes_of_row = out.result_step * (call.of_float32() ? 4 : 8);
  return out;
}

std::optional<SumOverRows> sum_over_rows(const Step& step, ExprPool& pool) {
  const ProductCall call(step);
  if (!call || call.is_stack() || !call.scalar("transA").is_constant(1)) return std::nullopt;
  if (!call.is_vector() && !call.scalar("transB").is_constant(0)) return std::nullopt;
  const Expr one = pool.integer(1);
  return SumOverRows{.left_at = call.at("A"),
                     .right_at = call.right(),
                     .result_at = call.result(),
                     .rows = call.scalar("k"),
                     .left_step = call.scalar("lda"),
                     .right_step = call.is_vector() ? one : call.scalar("ldb"),
                     .m = call.scalar("m"),
                     .n = call.is_vector() ? one : call.scalar("n")};
}

Step part_of_sum(const Step& step, ExprPool& pool, Expr rows, Expr first_left, Expr first_right, Expr add) {
  const ProductCall call(step);
  const SumOverRows sum = *sum_over_rows(step, pool);
  const auto factor = [&](std::size_t at, Expr first) {
    auto argument = call.memory(at);
    if (first.defined()) argument.offset = argument.offset.defined() ? argument.offset + first : first;
    return argument;
  };
  auto result = call.memory(sum.result_at);
  result.kind = program::AccessKind::combine;
  const Expr yes = pool.integer(1), no = pool.integer(0);
  return {Call{call.of_float32() ? "bt_gemm_add_f32" : "bt_gemm_add_f64",
               {sum.m, sum.n, rows, yes, no, add, factor(sum.left_at, first_left), sum.left_step,
                factor(sum.right_at, first_right), sum.right_step, result}}};
}

}  // namespace bitale::lowering
