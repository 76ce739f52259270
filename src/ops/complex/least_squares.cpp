// Pseudo-inverses and least squares of complex matrices.
#include "ops/linalg/least_squares.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/ops/registry.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/complex/decomposition.hpp"
#include "ops/sample_values.hpp"
#include "runtime/matrix_functions.hpp"

namespace bitale {

namespace {

class ComplexPinv final : public ComplexDecomposition {
 public:
  explicit ComplexPinv(double rcond) : rcond(rcond) {}
  double rcond;
  static constexpr auto fields = attribute_list(attribute("rcond", &ComplexPinv::rcond));
  std::string_view name() const override { return "ComplexPinv"; }
  Attributes attributes() const override { return collect_attributes(*this, fields); }

  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override {
    if (cotangents[0].is_disconnected()) return no_gradients(node);
    const Variable found = pinv_cotangent(of_pairs(node.input(0)), of_pairs(node.output()), of_pairs(cotangents[0]));
    return {with_static_shape_of(node.input(0), as_pairs(found))};
  }
  void emit_tensors(TensorLowering& to, const Apply& node) const override {
    to.express({pairs_of_blocks(pinv(blocks_of_pairs(node.input(0)), rcond))});
  }

 private:
  bool is_square() const override { return false; }
  std::vector<std::string> outputs() const override { return {"nm2"}; }
  std::optional<double> tolerance() const override { return rcond; }
  std::int64_t run(DType dtype, std::int64_t m, std::int64_t n, std::span<const Array> in,
                   std::span<const Array> out) const override {
    return with_float(dtype, [&]<class T>(T) {
      return runtime::complex_pinv<T>(m, n, rcond, in[0].data_as<T>(), out[0].mutable_data_as<T>());
    });
  }
  std::string runtime_name() const override { return "complex_pinv"; }
  const char* who() const override { return "pinv"; }
};

class ComplexLstsq final : public ComplexDecomposition {
 public:
  explicit ComplexLstsq(double rcond) : rcond(rcond) {}
  double rcond;
  static constexpr auto fields = attribute_list(attribute("rcond", &ComplexLstsq::rcond));
  std::string_view name() const override { return "ComplexLstsq"; }
  Attributes attributes() const override { return collect_attributes(*this, fields); }

  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override {
    const auto numbers = [](const Variable& x) { return x.is_disconnected() ? x : of_pairs(x); };
    const auto [of_a, of_b] =
        lstsq_cotangents({of_pairs(node.input(0)), of_pairs(node.input(1)), of_pairs(node.output(0)), rcond},
                         numbers(cotangents[0]), cotangents[2]);
    const auto pairs = [&](int input, const Variable& x) {
      return x.is_disconnected() ? x : with_static_shape_of(node.input(input), as_pairs(x));
    };
    return {pairs(0, of_a), pairs(1, of_b)};
  }
  std::vector<std::vector<bool>> connection_pattern(const Apply&) const override {
    return {{true, false, true}, {true, false, false}};
  }
  // The real matrix of blocks has each singular value twice.
  void emit_tensors(TensorLowering& to, const Apply& node) const override {
    const Variable &a = node.input(0), &b = node.input(1);
    const Variable re = subtensor(b, {Ellipsis{}, 0}), im = subtensor(b, {Ellipsis{}, 1});
    const LeastSquares real = lstsq(blocks_of_pairs(a), columns_of_parts({re, im}, 2), rcond, 2);
    const auto each_second = [](int from) { return Slice{.start = Operand(from), .stop = {}, .step = Operand(2)}; };
    const auto part = [&](int from) { return subtensor(real.x, {each_second(from)}); };
    to.express({stack({part(0), part(1)}, 2), cast(int_div(real.rank, 2), DType::Int32),
                subtensor(real.singular_values, {each_second(0)})});
  }

 private:
  bool is_square() const override { return false; }
  std::vector<std::string> inputs() const override { return {"mn2", "mc2"}; }
  std::vector<std::string> outputs() const override { return {"nc2", "i", "k"}; }
  std::optional<double> tolerance() const override { return rcond; }
  std::int64_t run(DType dtype, std::int64_t m, std::int64_t n, std::span<const Array> in,
                   std::span<const Array> out) const override {
    return with_float(dtype, [&]<class T>(T) {
      return runtime::complex_lstsq<T>(m, n, in[1].shape(1), rcond, in[0].data_as<T>(), in[1].data_as<T>(),
                                       out[0].mutable_data_as<T>(), out[1].mutable_data_as<std::int32_t>(),
                                       out[2].mutable_data_as<T>());
    });
  }
  std::string runtime_name() const override { return "complex_lstsq"; }
  const char* who() const override { return "lstsq"; }
};

std::vector<Sample> complex_pinv_samples() {
  return decomposition_samples(make_ref<ComplexPinv>(-1.), {{3, 3}, {4, 2}, {2, 3}, {0, 2}}, true);
}

std::vector<Sample> complex_lstsq_samples() {
  constexpr auto any = unknown_length;
  std::vector<Sample> out;
  const auto add = [&](DType dtype, std::int64_t m, std::int64_t n, std::int64_t columns) {
    Array a = sample_values(DType::Float64, {m, n, 2}).copy();
    for (std::int64_t k = 0; k < std::min(m, n); ++k) a.mutable_data_as<double>()[2 * (k * n + k)] += 5;
    const Variable both[] = {sample_input(dtype, {any, any, 2}, "a"), sample_input(dtype, {any, any, 2}, "b")};
    out.push_back({make_ref<ComplexLstsq>(-1.)->make_node(both),
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

BITALE_REGISTER_OP(ComplexPinv, "The pseudo-inverse of a complex matrix, as pairs.", complex_pinv_samples);
BITALE_REGISTER_OP(ComplexLstsq,
                   "Least squares of a complex matrix, as pairs: the solution, the rank, the singular values.",
                   complex_lstsq_samples);

}  // namespace

Variable complex_pinv(const Variable& x, double rcond) {
  return of_pairs(apply_pairs(make_ref<ComplexPinv>(rcond), x).output());
}

LeastSquaresParts complex_lstsq(const Variable& a, const Variable& b, double rcond) {
  const Variable matrices[] = {a, b};
  const Apply node = apply_pairs(make_ref<ComplexLstsq>(rcond), matrices);
  return {of_pairs(node.output(0)), cast(node.output(1), DType::Int64), node.output(2)};
}

}  // namespace bitale
