// Decompositions of complex matrices, as ops on pairs of real numbers [..., m, n, 2], so that the graph, derivatives
// and native code deal with real tensors only. Their derivatives are formulas on complex numbers, which are then split
// into parts.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bitale/ops/registry.hpp"
#include "ops/complex/matrices.hpp"
#include "ops/complex/pairs.hpp"
#include "ops/linalg/lapack_forms.hpp"
#include "ops/linalg/linalg_core.hpp"

namespace bitale {

// A LAPACK function on matrices. All duties except derivatives follow from the forms of its inputs and outputs. A form
// has one letter per dimension: m, n, c for lengths of the inputs, k for the lesser of m and n, 2 for the parts of
// complex numbers. A trailing i marks a tensor of integers.
class ComplexDecomposition : public DecompositionOp, public EmitsTensors {
 public:
  std::string signature() const override;
  Apply make_node(std::span<const Variable> inputs) const override;
  std::vector<Shape> infer_shape(const Apply& node, std::span<const Shape> inputs) const override;
  void perform(const Apply& node, std::span<const Array> in, std::span<Array> out) const override;
  bool emit(Lowering& to, const Apply& node) const override;
  void emit_tensors(TensorLowering& to, const Apply& node) const override;

 protected:
  // The outputs as tensors of numbers, from the inputs, which are complex where their forms are of pairs. The default
  // refuses the op.
  virtual TensorValues emit_numbers(TensorLowering& to, const TensorValues& in) const;
  // By default one matrix.
  virtual std::vector<std::string> inputs() const;
  virtual std::vector<std::string> outputs() const = 0;
  virtual bool is_square() const { return true; }
  virtual bool is_of_real() const { return false; }  // the input is a real matrix [m, n]
  // The input that the runtime function overwrites with the first output.
  virtual std::optional<int> overwritten() const { return {}; }
  // The forms of the runtime function's scratch memory.
  virtual std::vector<std::string> scratch() const { return {}; }
  // The runtime function's arguments between the lengths and the matrices.
  virtual std::vector<std::int64_t> flags() const { return {}; }
  // A further argument of it, after the flags.
  virtual std::optional<double> tolerance() const { return {}; }
  // Runs the function in float64 or float32 and returns its status. `out`: the outputs, the first of which starts as
  // the overwritten input, then scratch.
  virtual std::int64_t run(DType dtype, std::int64_t m, std::int64_t n, std::span<const Array> in,
                           std::span<const Array> out) const = 0;
  // Throws the error of a status that is not 0.
  virtual void fail(std::int64_t status) const { check(status); }
};

// The node of an op on complex matrices, or batches of them.
Apply apply_pairs(const Ref<const MatrixOp>& op, const Variable& x);
Apply apply_pairs(const Ref<const MatrixOp>& op, std::span<const Variable> matrices);
// Samples with matrices on which decompositions can be tested.
std::vector<Sample> decomposition_samples(const OpRef& op, const std::vector<Dims>& shapes, bool smooth,
                                          bool is_of_real = false);
// The cotangent of an output of pairs, as complex numbers; zeros if it is disconnected.
Variable complex_cotangent(const Apply& node, std::span<const Variable> cotangents, int output);
// x - x^H, twice the skew-Hermitian part of x.
Variable skew_part(const Variable& x);

// The functions of linalg.hpp for complex matrices. trans: 0 for a, 1 for its transpose, 2 for its adjoint.
Variable complex_cholesky(const Variable& x, bool lower, OnError on_error);
Variable complex_solve(const Variable& a, const Variable& b, int trans, int b_ndim, OnError on_error);
struct ComplexTriangle {
  bool lower = false, unit_diagonal = false;
  int trans = 0;
};
Variable complex_solve_triangular(const Variable& a, const Variable& b, const ComplexTriangle& triangle, int b_ndim,
                                  OnError on_error = OnError::Raise);
Variable complex_solve_sylvester(const Variable& a, const Variable& b, const Variable& q);
Variables complex_qr(const Variable& x, const std::string& mode, bool pivoting);
SingularValues complex_svd(const Variable& x, bool full_matrices);
Variable complex_svdvals(const Variable& x);
EigenPairs complex_eigh(const Variable& x, bool lower);
Variable complex_eigvalsh(const Variable& x, bool lower);
LUFactors complex_lu_factor(const Variable& x);
SignAndLogarithm complex_slogdet(const Variable& x);
SchurForm complex_schur(const Variable& x, const std::string& sort);
GeneralizedSchurForm complex_qz(const Variable& a, const Variable& b, const std::string& sort);

}  // namespace bitale
