// Ops that solve systems of equations op(a) x = b, where op(a) is a or its transpose, for a square matrix a and a
// vector or matrix b of real numbers.
#pragma once

#include <string>
#include <vector>

#include "ops/linalg/lapack_op.hpp"

namespace bitale {

class SystemOp : public LapackOp {
 public:
  bool trans;
  int b_ndim;
  std::string on_error;

  Apply make_node(std::span<const Variable> inputs) const override {
    return system_node(OpRef(this), who(), b_ndim, inputs);
  }
  bool emit(Lowering& to, const Apply& node) const override;
  void emit_tensors(TensorLowering& to, const Apply& node) const override;
  Variables pullback(const Apply& node, std::span<const Variable> cotangents) const override;
  Variables pushforward(const Apply& node, std::span<const Variable> tangents) const override;
  bool has_pushforward() const override { return true; }

 protected:
  // ValueError naming `who` for another b_ndim than 1 and 2 and another on_error than "raise" and "nan".
  SystemOp(const char* who, bool trans, int b_ndim, std::string on_error);

  std::vector<std::string> inputs() const override { return {"mm", b_ndim == 1 ? "m" : "mk"}; }
  std::vector<std::string> outputs() const override { return {inputs()[1]}; }
  std::optional<int> overwritten() const override { return 1; }
  std::int64_t columns(const Call& call) const { return b_ndim == 1 ? 1 : call.k; }
  // The runtime function's flags if it is given the transpose of a.
  virtual std::vector<std::int64_t> flags_of(bool transposed) const = 0;
  std::vector<std::int64_t> flags() const final { return flags_of(false); }
  // Whether the function can be given the transpose, if that is what is stored.
  virtual bool takes_transposed() const { return true; }
  // Throws for a singular matrix.
  [[noreturn]] void fail_in_row(std::string_view what, std::int64_t row) const;

  // The solution of the system with this transposition, by an op of the same kind.
  virtual Variable solved(bool transposed, const Variable& a, const Variable& b) const = 0;
  // The gradient of what is read of a, from that of the whole matrix; and the whole matrix from what is read.
  virtual Variable gradient_read(const Variable& x) const { return x; }
  virtual Variable whole(const Variable& x) const { return x; }
  // For a target of whole tensors, where b is a matrix.
  virtual TensorValue solve_tensors(TensorLowering& to, const TensorValue& a, const TensorValue& b) const = 0;
};

}  // namespace bitale
