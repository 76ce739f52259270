// Decompositions of complex matrices: ops on pairs of real numbers [..., m, n, 2], so that the graph, derivatives and
// native code know real tensors only. Their derivatives are formulas of complex numbers, whose parts are then split.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ops/complex_matrices.hpp"
#include "ops/lapack_forms.hpp"
#include "ops/linalg_core.hpp"
#include "ops/registry.hpp"

namespace bitale {

// z as pairs, and back.
Variable as_pairs(const Variable& z);
Variable of_pairs(const Variable& pairs);

// One of LAPACK's functions of matrices: all duties but derivatives, from what the inputs and outputs look like. A form
// has a letter for each dimension: m, n, c for lengths that inputs have, k for the lesser of m and n, 2 for the parts
// of complex numbers; an i behind all says that it is of integers.
class ComplexDecomposition : public DecompositionOp, public EmitsTensors {
 public:
  std::string signature() const override;
  Apply make_node(std::span<const Variable> inputs) const override;
  std::vector<Shape> infer_shape(const Apply& node, std::span<const Shape> inputs) const override;
  void perform(const Apply& node, std::span<const Array> in, std::span<Array> out) const override;
  bool emit(Lowering& to, const Apply& node) const override;
  void emit_tensors(TensorLowering& to, const Apply& node) const override;

 protected:
  // The outputs as tensors of numbers, given the inputs, which are of complex numbers where their forms are of pairs.
  // By default refused by name.
  virtual TensorValues emit_numbers(TensorLowering& to, const TensorValues& in) const;
  // By default one matrix.
  virtual std::vector<std::string> inputs() const;
  virtual std::vector<std::string> outputs() const = 0;
  virtual bool is_square() const { return true; }
  virtual bool is_of_real() const { return false; }  // whose input is a real matrix [m, n]
  // The input that the runtime function turns into the first output, in its memory.
  virtual std::optional<int> overwritten() const { return {}; }
  // Memory that the runtime function works in.
  virtual std::vector<std::string> scratch() const { return {}; }
  // What the runtime function takes between the lengths and the matrices.
  virtual std::vector<std::int64_t> flags() const { return {}; }
  // Its status, of float64 or float32. `out`: outputs, the first of which begins as the overwritten input, and scratch.
  virtual std::int64_t run(DType dtype, std::int64_t m, std::int64_t n, std::span<const Array> in,
                           std::span<const Array> out) const = 0;
  // The error of a status that is not 0.
  virtual void fail(std::int64_t status) const { check(status); }
};

// An op with complex matrices for inputs, one by one or in batches: its node.
Apply apply_pairs(const Ref<const MatrixOp>& op, const Variable& x);
Apply apply_pairs(const Ref<const MatrixOp>& op, std::span<const Variable> matrices);
// Numbers of the kind that decompositions are tested with.
std::vector<Sample> decomposition_samples(const OpRef& op, const std::vector<Dims>& shapes, bool smooth,
                                          bool is_of_real = false);
// The cotangent of an output of pairs, as complex numbers; zeros where it has none.
Variable complex_cotangent(const Apply& node, std::span<const Variable> cotangents, int output);
// What is added to a matrix product's negative adjoint to make it 0: x - x^H.
Variable skew_part(const Variable& x);

// What the functions of linalg.hpp are for complex matrices. trans: 0 of a, 1 of its transpose, 2 of its adjoint.
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
