// Sylvester's equation of complex matrices.
#include "bitale/ops/ops.hpp"
#include "bitale/ops/registry.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/complex/decomposition.hpp"
#include "ops/sample_values.hpp"
#include "runtime/matrix_functions.hpp"

namespace bitale {

namespace {

class ComplexSolveSylvester final : public ComplexDecomposition {
 public:
  std::string_view name() const override { return "ComplexSolveSylvester"; }

  // As for real matrices (matrix_equations.cpp), with adjoints instead of transposes.
  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override {
    if (cotangents[0].is_disconnected()) return no_gradients(node);
    const Variable a = of_pairs(node.input(0)), b = of_pairs(node.input(1)), x = of_pairs(node.output());
    const Variable s = complex_solve_sylvester(adjoint(a), adjoint(b), of_pairs(cotangents[0]));
    return {with_static_shape_of(node.input(0), as_pairs(neg(dot(s, adjoint(x))))),
            with_static_shape_of(node.input(1), as_pairs(neg(dot(adjoint(x), s)))),
            with_static_shape_of(node.input(2), as_pairs(s))};
  }

 private:
  TensorValues emit_numbers(TensorLowering& to, const TensorValues& in) const override {
    return {solve_sylvester_by_lu(to, in[0], in[1], in[2], failure())};
  }
  std::vector<std::string> inputs() const override { return {"mm2", "nn2", "mn2"}; }
  std::vector<std::string> outputs() const override { return {"mn2"}; }
  std::int64_t run(DType dtype, std::int64_t m, std::int64_t n, std::span<const Array> in,
                   std::span<const Array> out) const override {
    return with_float(dtype, [&]<class T>(T) {
      return runtime::complex_solve_sylvester<T>(m, n, in[0].data_as<T>(), in[1].data_as<T>(), in[2].data_as<T>(),
                                                 out[0].mutable_data_as<T>());
    });
  }
  std::string runtime_name() const override { return "complex_solve_sylvester"; }
  const char* who() const override { return "solve_sylvester"; }
};

std::vector<Sample> complex_sylvester_samples() {
  constexpr auto any = unknown_length;
  std::vector<Sample> out;
  const auto add = [&](DType dtype, std::int64_t m, std::int64_t n) {
    const Variable inputs[] = {sample_input(dtype, {any, any, 2}, "a"), sample_input(dtype, {any, any, 2}, "b"),
                               sample_input(dtype, {any, any, 2}, "q")};
    const auto regular = [&](std::int64_t length) {
      Array a = sample_values(DType::Float64, {length, length, 2}).copy();
      for (std::int64_t k = 0; k < length; ++k)
        a.mutable_data_as<double>()[2 * (k * length + k)] += 4.0 * double(length);
      return a.astype(dtype);
    };
    out.push_back({make_ref<ComplexSolveSylvester>()->make_node(inputs),
                   {regular(m), regular(n), sample_values(dtype, {m, n, 2}, 2)},
                   1e-6,
                   m > 0 && n > 0 && dtype == DType::Float64});
  };
  add(DType::Float64, 3, 2);
  add(DType::Float64, 2, 2);
  add(DType::Float64, 0, 2);
  add(DType::Float32, 3, 4);
  return out;
}

BITALE_REGISTER_OP(ComplexSolveSylvester,
                   "The solution of A X + X B = Q of complex matrices, as pairs, by Schur forms.",
                   complex_sylvester_samples);

}  // namespace

Variable complex_solve_sylvester(const Variable& a, const Variable& b, const Variable& q) {
  const Variable matrices[] = {a, b, q};
  return of_pairs(apply_pairs(make_ref<ComplexSolveSylvester>(), matrices).output());
}

}  // namespace bitale
