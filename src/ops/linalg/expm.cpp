// The exponential of matrices.
#include <cmath>
#include <iterator>

#include "bitale/ops/lowering.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/ops/registry.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/linalg/expm_derivative.hpp"
#include "ops/linalg/lapack_op.hpp"
#include "ops/sample_values.hpp"
#include "program/math/math.hpp"
#include "runtime/expm.hpp"

namespace bitale {

namespace {

template <bool has_pairs>
class Expm final : public LapackOp {
 public:
  Expm() : LapackOp(has_pairs) {}
  std::string_view name() const override { return has_pairs ? "ComplexExpm" : "Expm"; }

  // Divides the matrix by a power of 2, computes the approximant of degree 13, and squares it as often (Higham 2005).
  void emit_tensors(TensorLowering& to, const Apply& node) const override {
    using In = std::span<const Expr>;
    check_lengths(to);
    if (has_pairs) return to.express({pairs_of_blocks(expm(blocks_of_pairs(node.input(0))))});
    TensorBuilder& builder = to.builder();
    const TensorValue x = to.in(0);
    const Dims batch = batch_of(x, 2);
    const int ndim = x.ndim(), rows[] = {ndim - 2}, last[] = {int(batch.size())};
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
    return gradients(node, expm_cotangents(numbers(node.input(0)), {}, numbers(cotangents[0])));
  }
  Variables pushforward(const Apply& node, std::span<const Variable> tangents) const override {
    const Variable tangent = numbers(tangents[0]);
    return {stored(expm_tangent(numbers(node.input(0)), {}, {&tangent, 1}))};
  }
  bool has_pushforward() const override { return true; }
  Structure structure(const Apply&, int, InputStructures& inputs) const override {
    if (has_pairs) return {};
    const Structure a = inputs.of(0);
    Structure out;
    for (const Fact fact : {Fact::Diagonal, Fact::LowerTriangular, Fact::UpperTriangular})
      if (a.is(fact)) out.add(fact);
    if (a.is_triangular()) out.add(Fact::PositiveDiagonal);
    if (a.is(Fact::Symmetric)) out.add(Fact::PositiveDefinite);
    return out;
  }

 private:
  std::vector<std::string> outputs() const override { return {"mm"}; }
  std::int64_t run(const Call& to) const override {
    return to.with_numbers<has_pairs>([&]<class N>(N) { return runtime::expm<N>(to.m, to.in<N>(0), to.out<N>(0)); });
  }
  const char* who() const override { return "expm"; }
};

std::vector<Sample> expm_samples() {
  constexpr auto any = unknown_length;
  std::vector<Sample> out;
  const auto add = [&](DType dtype, const Dims& type, std::int64_t n, bool smooth = true) {
    const Variable x[] = {sample_input(dtype, type, "x")};
    out.push_back({make_ref<Expm<false>>()->make_node(x),
                   {sample_values(dtype, {n, n})},
                   1e-6,
                   smooth && dtype == DType::Float64});
  };
  add(DType::Float64, {any, any}, 3);
  add(DType::Float64, {2, 2}, 2);
  add(DType::Float64, {any, any}, 1);
  add(DType::Float64, {any, any}, 0, false);
  add(DType::Float32, {any, any}, 3);
  add(DType::Int64, {any, any}, 1);
  return out;
}

std::vector<Sample> complex_expm_samples() {
  return decomposition_samples(make_ref<Expm<true>>(), {{3, 3}, {1, 1}, {0, 0}}, true);
}

const RegisterOp register_expm("Expm", "The exponential of a matrix, by scaling, a rational approximant and squaring.",
                               expm_samples, make_op<Expm<false>>);
const RegisterOp register_complex_expm("ComplexExpm", "The exponential of a complex matrix, as pairs.",
                                       complex_expm_samples, make_op<Expm<true>>);

}  // namespace

Variable expm(const Operand& x) {
  const LocationScope here(x.where);
  return apply_lapack<Expm>(require_matrices("expm", x))[0];
}

}  // namespace bitale
