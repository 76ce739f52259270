// Systems of equations with symmetric and with banded matrices.
#include "ops/linalg/solve_structured.hpp"
#include <algorithm>
#include "bitale/ops/contraction.hpp"
#include "bitale/ops/lowering.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/ops/registry.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/linalg/system_op.hpp"
#include "ops/sample_values.hpp"
#include "runtime/structured_systems.hpp"

namespace bitale {

namespace {

[[noreturn]] void no_pivot(const char* who, std::int64_t row) {
  raise_linalg(cat(who, ": the matrix is singular: no pivot is left in row ", row - 1),
               "on_error=\"nan\" of solve gives a solution that is all nan instead");
}

// ShapeError unless b has as many rows as a has columns, n.
void require_rows(const char* who, std::int64_t n, const Array& b) {
  if (b.shape(0) != n) throw ShapeError(cat(who, ": a has ", n, " columns, and b has ", b.shape(0), " rows"));
}

// The solution for a symmetric matrix, with both triangles given, or for one whose nonzero elements are in a band.
class SolveStructured final : public SystemOp {
 public:
  SolveStructured(std::string kind, bool trans, std::string on_error)
      : SystemOp("solve", trans, 2, std::move(on_error)), kind(std::move(kind)) {
    if (this->kind != "symmetric" && this->kind != "banded")
      throw ValueError(cat("SolveStructured: expected kind \"symmetric\" or \"banded\", got \"", this->kind, "\""));
  }
  std::string kind;
  static constexpr auto fields =
      attribute_list(attribute("kind", &SolveStructured::kind), attribute("trans", &SolveStructured::trans),
                     attribute("on_error", &SolveStructured::on_error));
  std::string_view name() const override { return "SolveStructured"; }
  Attributes attributes() const override { return collect_attributes(*this, fields); }

 private:
  bool is_banded() const { return kind == "banded"; }
  // As for any matrix: XLA has no routine for symmetric or banded ones.
  TensorValue solve_tensors(TensorLowering& to, const TensorValue& a, const TensorValue& b) const override {
    require_lapack(to);
    return solve_by_lu(to, a, b, TransposedForm(trans), on_error, "solve: the matrix is singular");
  }
  std::vector<std::string> scratch() const override { return {"mm", "mi"}; }
  std::vector<std::int64_t> flags_of(bool) const override {
    const bool as_nan = on_error == "nan";
    return is_banded() ? std::vector<std::int64_t>{trans, as_nan} : std::vector<std::int64_t>{as_nan};
  }
  bool takes_transposed() const override { return false; }
  std::int64_t run(const Call& to) const override {
    return to.with_numbers<false>([&]<class T>(T) {
      const bool as_nan = on_error == "nan";
      const T* a = to.in<T>(0);
      T *const b = to.out<T>(0), *const factor = to.out<T>(1);
      auto* const pivots = to.out<std::int32_t>(2);
      return is_banded() ? runtime::solve_by_bands<T>(to.m, to.k, trans, as_nan, a, b, factor, pivots)
                         : runtime::solve_symmetric<T>(to.m, to.k, as_nan, a, b, factor, pivots);
    });
  }
  void fail(std::int64_t status) const override { status > 0 ? no_pivot(who(), status) : check(status); }
  std::string routine() const override { return is_banded() ? "solve_by_bands" : "solve_symmetric"; }
  const char* who() const override { return "solve"; }
  Variable solved(bool transposed, const Variable& a, const Variable& b) const override {
    return (*make_ref<SolveStructured>(kind, is_banded() && transposed, on_error))({a, b});
  }
};

// The solution for a matrix given by its diagonals, the uppermost first: a[i, j] is ab[above + i - j, j].
class SolveBanded final : public DecompositionOp {
 public:
  SolveBanded(std::int64_t below, std::int64_t above, bool trans) : below(below), above(above), trans(trans) {
    if (below < 0 || above < 0)
      throw ValueError(cat("solve_banded: numbers of diagonals can't be negative, got ", below, " and ", above));
  }
  std::int64_t below, above;
  bool trans;
  static constexpr auto fields =
      attribute_list(attribute("below", &SolveBanded::below), attribute("above", &SolveBanded::above),
                     attribute("trans", &SolveBanded::trans));
  std::string_view name() const override { return "SolveBanded"; }
  Attributes attributes() const override { return collect_attributes(*this, fields); }
  std::string signature() const override { return "(d,m),(m,k)->(m,k)"; }

  Apply make_node(std::span<const Variable> inputs) const override {
    const Variables own = matrices_of(inputs, 2);
    require_diagonals(own[0].static_shape()[0]);
    Dims shape = own[1].static_shape();
    shape[0] = common_length(shape[0], own[0].static_shape()[1], 0, who());
    return Apply(OpRef(this), own, {tensor_type(own[0].dtype(), shape)});
  }
  std::vector<Shape> infer_shape(const Apply&, std::span<const Shape> inputs) const override { return {inputs[1]}; }
  void perform(const Apply&, std::span<const Array> in, std::span<Array> out) const override {
    const Array ab = in[0].contiguous();
    require_diagonals(ab.shape(0));
    const std::int64_t n = ab.shape(1), k = in[1].shape(1);
    require_rows(who(), n, in[1]);
    out[0] = in[1].copy();
    const Array bands = Array::empty(ab.dtype(), {(2 * below + above + 1) * n});
    const Array pivots = Array::empty(DType::Int32, {n});
    with_float(ab.dtype(), [&]<class T>(T) {
      const std::int64_t status =
          runtime::solve_banded<T>(n, k, below, above, trans, ab.data_as<T>(), out[0].mutable_data_as<T>(),
                                   bands.mutable_data_as<T>(), pivots.mutable_data_as<std::int32_t>());
      if (status > 0) no_pivot(who(), status);
      check(status);
    });
  }
  bool emit(Lowering& to, const Apply& node) const override {
    const auto ab = to.shape_in(0), b = to.shape_in(1);
    to.require(equal(ab[0], to.pool().integer(below + above + 1)),
               cat("solve_banded: expected a matrix of ", below + above + 1, " diagonals"));
    to.require(equal(ab[1], b[0]), "solve_banded: ab has other columns than b has rows");
    call_runtime(
        to, node,
        {b[0], b[1], to.pool().integer(below), to.pool().integer(above), to.pool().integer(trans), InputData{0},
         OutputData{0, {}, 1}, Scratch{node.output().dtype(), b[0] * to.pool().integer(2 * below + above + 1)},
         Scratch{DType::Int32, b[0]}});
    return true;
  }

  // The gradient of a is -g_b x^T, of which only the diagonals count; row r of ab is the diagonal above - r, at the
  // positions of its columns.
  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override {
    if (cotangents[0].is_disconnected()) return no_gradients(node);
    const Variable of_b = (*make_ref<SolveBanded>(below, above, !trans))({node.input(0), cotangents[0]});
    const Variable &rows = trans ? node.output() : of_b, &columns = trans ? of_b : node.output();
    const Variable n = length_of(rows, 0), width = length_of(rows, 1);
    Variables out;
    for (std::int64_t r = 0; r <= below + above; ++r) {
      const std::int64_t down = r - above;  // the row of a column's element, counted from the diagonal
      const Variable count = lengths::min(n, int64_constant(std::abs(down)));
      const Variable beside = zeros({count, width}, rows.dtype());
      const auto from = [&](bool end) {
        return end ? subtensor(rows, {Slice{.start = {}, .stop = Operand(lengths::sub(n, count)), .step = {}}})
                   : subtensor(rows, {Slice{.start = Operand(count), .stop = {}, .step = {}}});
      };
      const Variable moved = down == 0  ? rows
                             : down > 0 ? join(0, {from(false), beside})
                                        : join(0, {beside, from(true)});
      out.push_back(expand_dims(neg(sum(mul(moved, columns), Axes{{1}})), 0));
    }
    return {with_static_shape_of(node.input(0), out.size() == 1 ? out[0] : join(0, out)),
            with_static_shape_of(node.input(1), of_b)};
  }

 private:
  std::string runtime_name() const override { return "solve_banded"; }
  const char* who() const override { return "solve_banded"; }
  void require_diagonals(std::int64_t count) const {
    if (count != unknown_length && count != below + above + 1)
      throw ShapeError(cat("solve_banded: expected ", below + above + 1, " diagonals, ", below, " below and ", above,
                           " above the main one, got ", count));
  }
};

// A matrix with large elements on the diagonal, and small ones in the rest of the band.
Array banded_values(DType dtype, std::int64_t n, std::int64_t below, std::int64_t above, bool symmetric) {
  Array a = Array::zeros(DType::Float64, {n, n});
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = std::max<std::int64_t>(0, i - below); j <= std::min(n - 1, i + above); ++j)
      a.mutable_data_as<double>()[i * n + j] =
          i == j ? 6. + double(i % 5) : 0.25 * double(symmetric ? 1 + (i + j) % 4 : 1 + (2 * i + j) % 5);
  return a.astype(dtype);
}

std::vector<Sample> structured_samples() {
  constexpr auto any = unknown_length;
  std::vector<Sample> out;
  const auto add = [&](DType dtype, const char* kind, std::int64_t n, std::int64_t k, bool trans = false,
                       const char* on_error = "raise", bool smooth = true) {
    const Variable inputs[] = {sample_input(dtype, {any, any}, "a"), sample_input(dtype, {any, any}, "b")};
    const bool symmetric = std::string_view(kind) == "symmetric";
    out.push_back(
        {make_ref<SolveStructured>(kind, trans, on_error)->make_node(inputs),
         {banded_values(dtype, n, symmetric ? n : 2, symmetric ? n : 1, symmetric), sample_values(dtype, {n, k}, 1)},
         1e-6,
         smooth && dtype == DType::Float64});
  };
  for (const char* kind : {"symmetric", "banded"}) {
    add(DType::Float64, kind, 4, 2);
    add(DType::Float64, kind, 1, 1);
    add(DType::Float64, kind, 0, 2, false, "raise", false);
    add(DType::Float64, kind, 20, 3, false, "nan", false);
    add(DType::Float32, kind, 18, 1);
  }
  add(DType::Float64, "banded", 19, 2, true, "raise", false);
  add(DType::Float64, "banded", 3, 1, true);
  return out;
}

std::vector<Sample> banded_samples() {
  constexpr auto any = unknown_length;
  std::vector<Sample> out;
  const auto add = [&](DType dtype, std::int64_t below, std::int64_t above, std::int64_t n, std::int64_t k,
                       bool trans = false, bool smooth = true) {
    const Variable inputs[] = {sample_input(dtype, {any, any}, "ab"), sample_input(dtype, {any, any}, "b")};
    Array ab = sample_values(DType::Float64, {below + above + 1, n}).copy();
    for (std::int64_t j = 0; j < n; ++j) ab.mutable_data_as<double>()[above * n + j] = 9. + double(j % 3);
    out.push_back({make_ref<SolveBanded>(below, above, trans)->make_node(inputs),
                   {ab.astype(dtype), sample_values(dtype, {n, k}, 1)},
                   1e-6,
                   smooth && dtype == DType::Float64});
  };
  add(DType::Float64, 1, 1, 4, 2);
  add(DType::Float64, 2, 1, 5, 1, true);
  add(DType::Float64, 0, 0, 3, 2);
  add(DType::Float64, 2, 3, 2, 1);
  add(DType::Float64, 1, 0, 0, 2, false, false);
  add(DType::Float32, 1, 2, 6, 2);
  return out;
}

BITALE_REGISTER_OP(SolveStructured,
                   "The solution of a system with a symmetric matrix, or with one whose zeros leave a band.",
                   structured_samples);
BITALE_REGISTER_OP(SolveBanded, "The solution of a system with a matrix that is given by its diagonals.",
                   banded_samples);

// Vectors are treated as matrices with one column.
Variable on_columns(const Ref<const MatrixOp>& op, const Variable& a, const Variable& b, int b_ndim) {
  const Variable inputs[] = {a, b_ndim == 1 ? expand_dims(b, b.ndim()) : b};
  const Variable out = apply_matrices(op, inputs);
  return b_ndim == 1 ? squeeze(out, Axes{{out.ndim() - 1}}) : out;
}

// For complex matrices, the diagonals of the real matrix of twice the length that as_blocks gives: each column becomes
// two, which contain the interleaved parts of its elements; the first begins with an additional 0, the second ends with
// one.
Variable diagonals_of_blocks(const Variable& ab) {
  const int ndim = ab.ndim();
  Variables lengths;
  for (int axis = 0; axis < ndim - 2; ++axis) lengths.push_back(length_of(ab, axis));
  Variables of_zeros = lengths, of_parts = lengths, of_all = lengths;
  const Variable rows = length_of(ab, ndim - 2), n = length_of(ab, ndim - 1), two = int64_constant(2);
  for (auto& length : {int64_constant(1), n}) of_zeros.push_back(length);
  for (auto& length : {lengths::mul(rows, two), n}) of_parts.push_back(length);
  const Variable re = real(ab), im = imag(ab), none = zeros(Operands(of_zeros), re.dtype());
  const auto interleaved = [&](const Variable& first, const Variable& second) {
    return reshape(stack({first, second}, ndim - 1), Operands(of_parts));
  };
  const Variable even = join(ndim - 2, {none, interleaved(re, im)});
  const Variable odd = join(ndim - 2, {interleaved(neg(im), re), none});
  for (auto& length : {lengths::add(lengths::mul(rows, two), int64_constant(1)), lengths::mul(n, two)})
    of_all.push_back(length);
  return reshape(stack({even, odd}, ndim), Operands(of_all));
}

}  // namespace

Variable solve_structured(const char* kind, const Variable& a, const Variable& b, int b_ndim, bool trans,
                          OnError on_error) {
  return on_columns(make_ref<SolveStructured>(kind, trans, on_error_name(on_error)), a, b, b_ndim);
}

Variable solve_banded(std::int64_t below, std::int64_t above, const Operand& ab, const Operand& b, int b_ndim) {
  const LocationScope here(ab.where);
  require_matrices("solve_banded", ab);
  if (b.ndim() < 1) throw ShapeError("solve_banded: expected b to be a vector or a matrix, or a batch of them");
  const int core = core_ndim(b_ndim, b.variable);
  if (any_complex({ab.variable, b.variable})) {
    const auto [bands, right] = in_common_dtype(ab.variable, b.variable);
    (void)common_length(below + above + 1, bands.static_shape()[std::size_t(bands.ndim() - 2)], 0, "solve_banded");
    const auto op = make_ref<SolveBanded>(2 * below + 1, 2 * above + 1, false);
    return of_columns(on_columns(op, diagonals_of_blocks(bands), as_columns(right, core), core), core);
  }
  return on_columns(make_ref<SolveBanded>(below, above, false), ab.variable, b.variable, core);
}

}  // namespace bitale
