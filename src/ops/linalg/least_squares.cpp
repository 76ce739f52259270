// Pseudo-inverses and least squares.
#include <algorithm>

#include "bitale/ops/lowering.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/ops/registry.hpp"
#include "core/float_limits.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/linalg/lapack_op.hpp"
#include "ops/sample_values.hpp"
#include "runtime/matrix_functions.hpp"

namespace bitale {

namespace {

// Reciprocals of the singular values of a matrix of these lengths, 0 for values that are 0 up to rounding; and a mask
// of the values that are not.
std::pair<Variable, Variable> inverted_values(const Variable& s, double rcond, const Dims& lengths) {
  const double relative = rcond < 0 ? double(std::max(lengths[0], lengths[1])) * machine_epsilon(s.dtype()) : rcond;
  const auto number = [&](double value) { return cast(Operand(value), s.dtype()); };
  const Variable counts = gt(s, mul(number(relative), max(s)));
  return {switch_(counts, reciprocal(s), switch_(isnan(s), s, number(0))), counts};
}

Dims last_two(const Dims& lengths) { return {lengths[lengths.size() - 2], lengths.back()}; }

// The cotangent of A for its pseudo-inverse X, where the rank is constant, given the cotangent g of X: dX = -X dA X + X
// X^H dA^H (I - A X) + (I - X A) dA^H X^H X where the rank is constant (Golub and Pereyra 1973).
Variable pinv_cotangent(const Variable& a, const Variable& x, const Variable& g) {
  const Variable across = adjoint(x), of = adjoint(g), direct = dot(dot(across, g), across);
  const Variable left = dot(of, dot(x, across)), right = dot(dot(across, x), of);
  return sub(add(sub(left, dot(a, dot(x, left))), sub(right, dot(dot(right, x), a))), direct);
}

struct LeastSquaresProblem {
  Variable a, b, x;
  double rcond;
};
// The cotangents of A and b, given those of x and of the singular values of A, which may be disconnected. For x = A^+ b
// with constant rank and r = b - A x: dx = A^+ (db - dA x) + A^+ A^+H dA^H r + (I - A^+ A) dA^H A^+H x (Golub and
// Pereyra 1973).
Variables lstsq_cotangents(const LeastSquaresProblem& of, const Variable& of_x, const Variable& of_values) {
  const auto& [a, b, x, rcond] = of;
  Variable of_a = disconnected();
  if (!of_values.is_disconnected()) {
    const auto [u, s, vh] = svd(a, {.full_matrices = false});
    of_a = dot(mul(u, expand_dims(of_values, 0)), vh);
  }
  if (of_x.is_disconnected()) return {of_a, disconnected()};
  const Variable p = pinv(a, rcond), across = adjoint(p), of_b = dot(across, of_x), rest = sub(b, dot(a, x));
  const Variable beside = sub(of_x, dot(adjoint(a), of_b));
  const Variable by_x =
      sub(add(dot(rest, adjoint(dot(p, of_b))), dot(dot(across, x), adjoint(beside))), dot(of_b, adjoint(x)));
  return {of_a.is_disconnected() ? by_x : add(of_a, by_x), of_b};
}

template <bool has_pairs>
class MatrixPinv final : public LapackOp {
 public:
  explicit MatrixPinv(double rcond) : LapackOp(has_pairs), rcond(rcond) {}
  double rcond;
  static constexpr auto fields = attribute_list(attribute("rcond", &MatrixPinv::rcond));
  std::string_view name() const override { return has_pairs ? "ComplexPinv" : "MatrixPinv"; }
  Attributes attributes() const override { return collect_attributes(*this, fields); }

  void emit_tensors(TensorLowering& to, const Apply& node) const override {
    if (has_pairs) return to.express({pairs_of_blocks(pinv(blocks_of_pairs(node.input(0)), rcond))});
    require_lapack(to);
    Dims lengths = to.lengths_in(0);
    if (product(lengths) == 0) {
      std::swap(lengths[lengths.size() - 2], lengths.back());
      return to.out(0, to.builder().full(0, node.output().dtype(), lengths));
    }
    const auto [u, s, vt] = svd(node.input(0), {.full_matrices = false});
    const Variable inverse = inverted_values(s, rcond, last_two(lengths)).first;
    to.express({dot(mul(t(vt), expand_dims(inverse, 0)), t(u))});
  }

  Structure structure(const Apply&, int, InputStructures& inputs) const override {
    if (has_pairs) return {};
    const Structure a = inputs.of(0);
    Structure out;
    for (const Fact fact : {Fact::Diagonal, Fact::Symmetric, Fact::PositiveDefinite, Fact::Orthogonal})
      if (a.is(fact)) out.add(fact);
    return out;
  }

  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override {
    if (cotangents[0].is_disconnected()) return no_gradients(node);
    return gradients(node, {pinv_cotangent(numbers(node.input(0)), numbers(node.output()), numbers(cotangents[0]))});
  }

 private:
  std::vector<std::string> inputs() const override { return {"mn"}; }
  std::vector<std::string> outputs() const override { return {"nm"}; }
  std::optional<double> tolerance() const override { return rcond; }
  std::int64_t run(const Call& to) const override {
    return to.with_numbers<has_pairs>(
        [&]<class N>(N) { return runtime::pinv<N>(to.m, to.n, rcond, to.in<N>(0), to.out<N>(0)); });
  }
  const char* who() const override { return "pinv"; }
};

template <bool has_pairs>
class Lstsq final : public LapackOp {
 public:
  explicit Lstsq(double rcond) : LapackOp(has_pairs), rcond(rcond) {}
  double rcond;
  static constexpr auto fields = attribute_list(attribute("rcond", &Lstsq::rcond));
  std::string_view name() const override { return has_pairs ? "ComplexLstsq" : "Lstsq"; }
  Attributes attributes() const override { return collect_attributes(*this, fields); }

  void emit_tensors(TensorLowering& to, const Apply& node) const override {
    if (has_pairs) return emit_blocks(to, node);
    require_lapack(to);
    const Dims a = to.lengths_in(0), b = to.lengths_in(1);
    check_lengths(to);
    if (product(a) == 0) {
      const Dims batch(std::span(a.data(), a.size() - 2));
      const DType dtype = node.output(0).dtype();
      to.out(0, to.builder().full(0, dtype, with_core(batch, {a.back(), b.back()})));
      to.out(1, to.builder().full(0, DType::Int64, batch));
      to.out(2, to.builder().full(0, dtype, with_core(batch, {std::min(a[a.size() - 2], a.back())})));
      return;
    }
    const auto [u, s, vt] = svd(node.input(0), {.full_matrices = false});
    const auto [inverse, counts] = inverted_values(s, rcond, last_two(a));
    to.express(
        {dot(t(vt), mul(expand_dims(inverse, 1), dot(t(u), node.input(1)))), sum(cast(counts, DType::Int64)), s});
  }

  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override {
    const LeastSquaresProblem of{numbers(node.input(0)), numbers(node.input(1)), numbers(node.output(0)), rcond};
    return gradients(node, lstsq_cotangents(of, numbers(cotangents[0]), cotangents[2]));
  }
  std::vector<std::vector<bool>> connection_pattern(const Apply&) const override {
    return {{true, false, true}, {true, false, false}};
  }

 private:
  // The real matrix of blocks has each singular value twice.
  void emit_blocks(TensorLowering& to, const Apply& node) const {
    const Variable &a = node.input(0), &b = node.input(1);
    const Variable re = subtensor(b, {Ellipsis{}, 0}), im = subtensor(b, {Ellipsis{}, 1});
    const LeastSquares real = lstsq(blocks_of_pairs(a), columns_of_parts({re, im}, 2), rcond, 2);
    const auto each_second = [](int from) { return Slice{.start = Operand(from), .stop = {}, .step = Operand(2)}; };
    const auto part = [&](int from) { return subtensor(real.x, {each_second(from)}); };
    to.express(
        {stack({part(0), part(1)}, 2), int_div(real.rank, 2), subtensor(real.singular_values, {each_second(0)})});
  }

  std::vector<std::string> inputs() const override { return {"mn", "mk"}; }
  std::vector<std::string> outputs() const override { return {"nk", "l", "pr"}; }
  std::optional<double> tolerance() const override { return rcond; }
  std::int64_t run(const Call& to) const override {
    return to.with_numbers<has_pairs>([&]<class N>(N) {
      return runtime::lstsq<N>(to.m, to.n, to.k, rcond, to.in<N>(0), to.in<N>(1), to.out<N>(0), to.out<std::int64_t>(1),
                               to.out<runtime::PartOf<N>>(2));
    });
  }
  const char* who() const override { return "lstsq"; }
};

Array tall_values(const Dims& shape) {
  Array a = sample_values(DType::Float64, shape).copy();
  for (std::int64_t k = 0; k < std::min(shape[0], shape[1]); ++k) a.mutable_data_as<double>()[k * shape[1] + k] += 5;
  return a;
}

std::vector<Sample> pinv_samples() {
  constexpr auto any = unknown_length;
  std::vector<Sample> out;
  const auto add = [&](DType dtype, const Dims& type, const Dims& shape, bool smooth = true) {
    const Variable x[] = {sample_input(dtype, type, "x")};
    out.push_back({make_ref<MatrixPinv<false>>(-1.)->make_node(x),
                   {tall_values(shape).astype(dtype)},
                   1e-6,
                   smooth && dtype == DType::Float64});
  };
  add(DType::Float64, {any, any}, {3, 3});
  add(DType::Float64, {4, 2}, {4, 2});
  add(DType::Float64, {any, any}, {2, 4});
  add(DType::Float32, {any, any}, {3, 2});
  add(DType::Float64, {any, any}, {0, 2}, false);
  add(DType::Float64, {any, any}, {1, 1});
  add(DType::Int64, {any, any}, {3, 3});
  return out;
}

std::vector<Sample> lstsq_samples() {
  constexpr auto any = unknown_length;
  std::vector<Sample> out;
  const auto add = [&](DType dtype, const Dims& shape, std::int64_t k, bool smooth = true) {
    const Variable both[] = {sample_input(dtype, {any, any}, "a"), sample_input(dtype, {any, any}, "b")};
    out.push_back({make_ref<Lstsq<false>>(-1.)->make_node(both),
                   {tall_values(shape).astype(dtype), sample_values(dtype, {shape[0], k}, 1)},
                   1e-6,
                   smooth && dtype == DType::Float64});
  };
  add(DType::Float64, {4, 2}, 2);
  add(DType::Float64, {3, 3}, 1);
  add(DType::Float64, {2, 3}, 2);
  add(DType::Float32, {4, 2}, 3);
  add(DType::Float64, {0, 2}, 1, false);
  return out;
}

std::vector<Sample> complex_pinv_samples() {
  return decomposition_samples(make_ref<MatrixPinv<true>>(-1.), {{3, 3}, {4, 2}, {2, 3}, {0, 2}}, true);
}

std::vector<Sample> complex_lstsq_samples() {
  constexpr auto any = unknown_length;
  std::vector<Sample> out;
  const auto add = [&](DType dtype, std::int64_t m, std::int64_t n, std::int64_t columns) {
    Array a = sample_values(DType::Float64, {m, n, 2}).copy();
    for (std::int64_t k = 0; k < std::min(m, n); ++k) a.mutable_data_as<double>()[2 * (k * n + k)] += 5;
    const Variable both[] = {sample_input(dtype, {any, any, 2}, "a"), sample_input(dtype, {any, any, 2}, "b")};
    out.push_back({make_ref<Lstsq<true>>(-1.)->make_node(both),
                   {a.astype(dtype), sample_values(dtype, {m, columns, 2}, 1)},
                   1e-6,
                   m > 0 && dtype == DType::Float64});
  };
  add(DType::Float64, 4, 2, 2);
  add(DType::Float64, 3, 3, 1);
  add(DType::Float64, 2, 3, 2);
  add(DType::Float32, 4, 2, 3);
  add(DType::Float64, 0, 2, 1);
  return out;
}

const RegisterOp register_pinv("MatrixPinv", "The pseudo-inverse of Moore and Penrose, by singular values.",
                               pinv_samples, make_op<MatrixPinv<false>>);
const RegisterOp register_complex_pinv("ComplexPinv", "The pseudo-inverse of a complex matrix, as pairs.",
                                       complex_pinv_samples, make_op<MatrixPinv<true>>);
const RegisterOp register_lstsq("Lstsq", "The least-squares solution of least norm, the rank, and the singular values.",
                                lstsq_samples, make_op<Lstsq<false>>);
const RegisterOp register_complex_lstsq(
    "ComplexLstsq", "Least squares of a complex matrix, as pairs: the solution, the rank, the singular values.",
    complex_lstsq_samples, make_op<Lstsq<true>>);

}  // namespace

Variable pinv(const Operand& x, double rcond) {
  const LocationScope here(x.where);
  return apply_lapack<MatrixPinv>(require_matrices("pinv", x), rcond)[0];
}

LeastSquares lstsq(const Operand& a, const Operand& b, double rcond, int b_ndim) {
  const LocationScope here(a.where);
  const Variable& matrix = require_matrices("lstsq", a);
  const int core = b_ndim ? b_ndim : std::min(b.ndim(), 2);
  if (b.ndim() < core || core < 1)
    throw ShapeError(cat("lstsq: expected b of one dimension or more, got ", b.variable.str()));
  const Variable columns = core == 1 ? expand_dims(b.variable, b.ndim()) : b.variable;
  const Variable matrices[] = {matrix, columns};
  const Variables out = apply_lapack<Lstsq>(matrices, rcond);
  const Variable &x = out[0], &rank = out[1], &singular_values = out[2];
  const Variable left = sub(columns, matmul(matrix, x));
  const Variable squares = is_complex(left) ? add(sqr(real(left)), sqr(imag(left))) : sqr(left);
  Variable residuals = sum(squares, Axes{{left.ndim() - 2}}), solution = x;
  if (residuals.ndim() == 1) {  // empty unless the rank is full and rows outnumber columns, as in NumPy
    const Variable rows = length_of(matrix, 0), unknowns = length_of(matrix, 1);
    const Variable counts = logical_and(eq(rank, unknowns), gt(rows, unknowns));
    residuals = subtensor(
        residuals, {Slice{.start = {}, .stop = Operand(switch_(counts, length_of(residuals, 0), 0)), .step = {}}});
  }
  if (core == 1) solution = squeeze(x, Axes{{x.ndim() - 1}});
  return {solution, residuals, rank, singular_values};
}

}  // namespace bitale
