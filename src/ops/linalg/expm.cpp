// The exponential of matrices.
#include <cmath>
#include <iterator>

#include "bitale/ops/lowering.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/ops/registry.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/complex/decomposition.hpp"
#include "ops/linalg/expm_derivative.hpp"
#include "ops/linalg/lapack_forms.hpp"
#include "ops/linalg/linalg_core.hpp"
#include "ops/sample_values.hpp"
#include "program/math/math.hpp"
#include "runtime/expm.hpp"

namespace bitale {

namespace {

class Expm final : public DecompositionOp, public EmitsTensors {
 public:
  std::string_view name() const override { return "Expm"; }
  std::string signature() const override { return "(m,m)->(m,m)"; }

  Apply make_node(std::span<const Variable> inputs) const override {
    const auto [x, n] = square_matrix_of(inputs);
    return Apply(OpRef(this), {x}, {tensor_type(x.dtype(), {n, n})});
  }
  std::vector<Shape> infer_shape(const Apply&, std::span<const Shape> inputs) const override { return {inputs[0]}; }
  void perform(const Apply&, std::span<const Array> in, std::span<Array> out) const override {
    check_lengths(in);
    const Array a = in[0].contiguous();
    const std::int64_t n = a.shape(0);
    out[0] = Array::empty(a.dtype(), {n, n});
    with_float(a.dtype(), [&]<class T>(T) { check(runtime::expm<T>(n, a.data_as<T>(), out[0].mutable_data_as<T>())); });
  }
  bool emit(Lowering& to, const Apply& node) const override {
    const Expr n = to.shape_in(0)[0];
    require_lengths(to);
    call_runtime(to, node, {n, InputData{0}, OutputData{0}});
    return true;
  }

  // Divides the matrix by a power of 2, computes the approximant of degree 13, and squares it as often (Higham 2005).
  void emit_tensors(TensorLowering& to, const Apply&) const override {
    using In = std::span<const Expr>;
    TensorBuilder& builder = to.builder();
    const TensorValue x = to.in(0);
    const Dims batch = batch_of(x, 2);
    const int ndim = x.ndim(), rows[] = {ndim - 2}, last[] = {int(batch.size())};
    check_lengths(to);
    require_lapack(to);
    if (product(x.lengths) == 0) return to.out(0, x);
    const auto over_matrices = [&](const TensorValue& each) {
      return builder.broadcast(each, x.lengths, axes_below(each.ndim()));
    };

    const TensorValue given = where_batch(builder, is_finite(builder, x), x, 0);
    const TensorValue sums = builder.reduce(
        builder.map(DType::Float64, {builder.convert(given, DType::Float64)}, [](In in) { return abs(in[0]); }),
        program::Combiner::add, rows);
    const TensorValue norm = builder.reduce(sums, program::Combiner::max, last);
    const TensorValue has_value =
        builder.map(DType::Bool, {is_finite(builder, x), norm}, [](In in) { return in[0] & ~is_nan(in[1] - in[1]); });
    constexpr double limit = 5.371920351148152;  // where the approximant is accurate to rounding
    const TensorValue squarings = builder.map(DType::Int64, {norm, has_value}, [](In in) {
      const Expr over = ceil(program::math::log2(in[0] / limit));
      return program::cast(select(in[1] & (in[0] > limit), over, 0.0), DType::Int64);
    });
    const TensorValue scale = builder.map(DType::Float64, {squarings}, [](In in) {
      return program::bitcast((in[0].pool().integer(1023) - in[0]) << 52, DType::Float64);
    });
    const TensorValue a = builder.map(x.dtype, {given, builder.convert(over_matrices(scale), x.dtype)},
                                      [](In in) { return in[0] * in[1]; });

    constexpr double b[] = {64764752532480000.,
                            32382376266240000.,
                            7771770303897600.,
                            1187353796428800.,
                            129060195264000.,
                            10559470521600.,
                            670442572800.,
                            33522128640.,
                            1323241920.,
                            40840800.,
                            960960.,
                            16380.,
                            182.,
                            1.};
    const auto times = [&](const TensorValue& left, const TensorValue& right) {
      const int columns[] = {ndim - 1};
      return builder.dot(left, right, int(batch.size()), columns, rows);
    };
    const TensorValue one = identity_matrices(builder, x.dtype, x.lengths);
    const TensorValue a2 = times(a, a), a4 = times(a2, a2), a6 = times(a4, a2);
    // Sums the powers 12, 10, 8, then 6, 4, 2, 0, with the coefficients k, k - 2, ...
    const auto even_part = [&](int k) {
      const auto c = [&](int i) { return b[i] / b[0]; };
      const TensorValue high =
          builder.map(x.dtype, {a6, a4, a2}, [&](In in) { return c(k) * in[0] + c(k - 2) * in[1] + c(k - 4) * in[2]; });
      return builder.map(x.dtype, {times(a6, high), a6, a4, a2, one}, [&](In in) {
        return in[0] + c(k - 6) * in[1] + c(k - 8) * in[2] + c(k - 10) * in[3] + c(k - 12) * in[4];
      });
    };
    const TensorValue u = times(a, even_part(int(std::size(b)) - 1)), v = even_part(int(std::size(b)) - 2);
    const auto combined = [&](bool add) {
      return builder.map(x.dtype, {v, u}, [add](In in) { return add ? in[0] + in[1] : in[0] - in[1]; });
    };
    const TensorValue first = solve_by_lu(to, combined(false), combined(true), TransposedForm::none, "nan", failure());

    constexpr std::int64_t most = 1024;
    const TensorValues squared =
        builder.repeat(most, {first}, true, [&](const TensorValue& number, const TensorValues& now) {
          const auto is_due = [&](double further) {
            return builder.map(DType::Bool, {squarings, number}, [further](In in) { return in[0] > in[1] + further; });
          };
          const TensorValue next = builder.map(x.dtype, {over_matrices(is_due(0)), times(now[0], now[0]), now[0]},
                                               [](In in) { return select(in[0], in[1], in[2]); });
          return TensorValues{next, builder.none(is_due(1))};
        });
    to.out(0, where_batch(builder, has_value, squared[0], std::nan("")));
  }

  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override {
    if (cotangents[0].is_disconnected()) return no_gradients(node);
    return {with_static_shape_of(node.input(0), expm_cotangents(node.input(0), {}, cotangents[0])[0])};
  }
  Variables pushforward(const Apply& node, std::span<const Variable> tangents) const override {
    return {expm_tangent(node.input(0), {}, tangents)};
  }
  bool has_pushforward() const override { return true; }
  Structure structure(const Apply&, int, InputStructures& inputs) const override {
    const Structure a = inputs.of(0);
    Structure out;
    for (const Fact fact : {Fact::Diagonal, Fact::LowerTriangular, Fact::UpperTriangular})
      if (a.is(fact)) out.add(fact);
    if (a.is_triangular()) out.add(Fact::PositiveDiagonal);
    if (a.is(Fact::Symmetric)) out.add(Fact::PositiveDefinite);
    return out;
  }

 private:
  std::string runtime_name() const override { return "expm"; }
  const char* who() const override { return "expm"; }
};

std::vector<Sample> expm_samples() {
  constexpr auto any = unknown_length;
  std::vector<Sample> out;
  const auto add = [&](DType dtype, const Dims& type, std::int64_t n, bool smooth = true) {
    const Variable x[] = {sample_input(dtype, type, "x")};
    out.push_back(
        {make_ref<Expm>()->make_node(x), {sample_values(dtype, {n, n})}, 1e-6, smooth && dtype == DType::Float64});
  };
  add(DType::Float64, {any, any}, 3);
  add(DType::Float64, {2, 2}, 2);
  add(DType::Float64, {any, any}, 1);
  add(DType::Float64, {any, any}, 0, false);
  add(DType::Float32, {any, any}, 3);
  add(DType::Int64, {any, any}, 1);
  return out;
}

// The same of a complex matrix, as pairs.
class ComplexExpm final : public ComplexDecomposition {
 public:
  std::string_view name() const override { return "ComplexExpm"; }

  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override {
    if (cotangents[0].is_disconnected()) return no_gradients(node);
    const Variable found = expm_cotangents(of_pairs(node.input(0)), {}, of_pairs(cotangents[0]))[0];
    return {with_static_shape_of(node.input(0), as_pairs(found))};
  }
  Variables pushforward(const Apply& node, std::span<const Variable> tangents) const override {
    if (tangents[0].is_disconnected()) return {disconnected()};
    const Variable tangent = of_pairs(tangents[0]);
    return {as_pairs(expm_tangent(of_pairs(node.input(0)), {}, std::span(&tangent, 1)))};
  }
  bool has_pushforward() const override { return true; }
  void emit_tensors(TensorLowering& to, const Apply& node) const override {
    to.express({pairs_of_blocks(expm(blocks_of_pairs(node.input(0))))});
  }

 private:
  std::vector<std::string> outputs() const override { return {"nn2"}; }
  std::int64_t run(DType dtype, std::int64_t, std::int64_t n, std::span<const Array> in,
                   std::span<const Array> out) const override {
    return with_float(dtype, [&]<class T>(T) {
      return runtime::complex_expm<T>(n, in[0].data_as<T>(), out[0].mutable_data_as<T>());
    });
  }
  std::string runtime_name() const override { return "complex_expm"; }
  const char* who() const override { return "expm"; }
};

std::vector<Sample> complex_expm_samples() {
  return decomposition_samples(make_ref<ComplexExpm>(), {{3, 3}, {1, 1}, {0, 0}}, true);
}

BITALE_REGISTER_OP(Expm, "The exponential of a matrix, by scaling, a rational approximant and squaring.", expm_samples);
BITALE_REGISTER_OP(ComplexExpm, "The exponential of a complex matrix, as pairs.", complex_expm_samples);

}  // namespace

Variable expm(const Operand& x) {
  const LocationScope here(x.where);
  const Variable inputs[] = {require_matrices("expm", x)};
  if (is_complex(inputs[0]))
    return of_pairs(apply_pairs(make_ref<ComplexExpm>(), required_square("expm", inputs[0])).output());
  return apply_matrices(make_ref<Expm>(), inputs);
}

}  // namespace bitale
