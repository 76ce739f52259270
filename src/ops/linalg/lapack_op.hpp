// Ops on matrices whose outputs one function of the runtime computes: decompositions of LAPACK, and functions and
// equations of matrices built on them. They exist for matrices of real and of complex numbers. The latter are pairs of
// real numbers [..., m, n, 2], so that the graph, derivatives and native code deal with real tensors only; derivatives
// are formulas on numbers, the same for both, and those on complex numbers are then split into parts.
#pragma once

#include <complex>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "bitale/ops/registry.hpp"
#include "ops/complex/matrices.hpp"
#include "ops/complex/pairs.hpp"
#include "ops/linalg/lapack_forms.hpp"
#include "ops/linalg/linalg_core.hpp"
#include "runtime/numbers.hpp"

namespace bitale {

// All duties except derivatives follow from the forms of inputs and outputs. A form has one letter per dimension: m, n,
// k for lengths of the inputs, 2 for the parts of complex numbers, another letter for the lesser of m and n. Its tensor
// has the op's numbers, for which pairs need no 2; a trailing r marks real numbers, i int32, l int64.
class LapackOp : public DecompositionOp, public EmitsTensors {
 public:
  std::string signature() const override;
  Apply make_node(std::span<const Variable> inputs) const override;
  std::vector<Shape> infer_shape(const Apply& node, std::span<const Shape> inputs) const override;
  void perform(const Apply& node, std::span<const Array> in, std::span<Array> out) const override;
  bool emit(Lowering& to, const Apply& node) const override;
  void emit_tensors(TensorLowering& to, const Apply& node) const override;
  // The outputs for these matrices, or batches of them. Both are numbers, not pairs.
  Variables of(std::span<const Variable> matrices) const;

 protected:
  explicit LapackOp(bool has_pairs) : has_pairs_(has_pairs) {}

  // Arguments of a call of the runtime's function: the lengths, the inputs, and the outputs, followed by scratch
  // memory.
  struct Call {
    DType dtype;  // of the numbers or their parts
    std::int64_t m = 0, n = 0, k = 0;
    std::span<const Array> inputs, outputs;

    template <class N>
    const N* in(std::size_t k) const {
      return reinterpret_cast<const N*>(inputs[k].template data_as<runtime::PartOf<N>>());
    }
    template <class N>
    N* out(std::size_t k) const {
      return reinterpret_cast<N*>(outputs[k].template mutable_data_as<runtime::PartOf<N>>());
    }
    // Calls the function with a value of the C++ type of the numbers.
    template <bool has_pairs, class F>
    std::int64_t with_numbers(F&& function) const {
      return with_float(dtype,
                        [&]<class T>(T) { return function(std::conditional_t<has_pairs, std::complex<T>, T>()); });
    }
  };

  // By default one square matrix.
  virtual std::vector<std::string> inputs() const { return {"mm"}; }
  virtual std::vector<std::string> outputs() const = 0;
  // The input that the runtime function overwrites with the first output.
  virtual std::optional<int> overwritten() const { return {}; }
  // The forms of the runtime function's scratch memory.
  virtual std::vector<std::string> scratch() const { return {}; }
  // The runtime function's arguments between the lengths and the matrices.
  virtual std::vector<std::int64_t> flags() const { return {}; }
  // A further argument of it, after the flags.
  virtual std::optional<double> tolerance() const { return {}; }
  // Calls the function and returns its status.
  virtual std::int64_t run(const Call& call) const = 0;
  // Throws the error of a status that is not 0.
  virtual void fail(std::int64_t status) const { check(status); }
  // The name of the function of real numbers. That of complex numbers is "complex_" and the same.
  virtual std::string routine() const { return who(); }
  // The outputs as tensors of numbers, from inputs that are numbers. The default refuses the op.
  virtual TensorValues emit_numbers(TensorLowering& to, const TensorValues& in) const;

  // A tensor of the op as numbers, and numbers as such a tensor; what is disconnected stays so.
  Variable numbers(const Variable& stored) const;
  Variable stored(const Variable& numbers) const;
  // The cotangent of an output as numbers; zeros if it is disconnected.
  Variable cotangent(const Apply& node, std::span<const Variable> cotangents, int output) const;
  // The gradients of the inputs, from numbers.
  Variables gradients(const Apply& node, const Variables& numbers) const;

 private:
  std::string runtime_name() const final { return has_pairs_ ? "complex_" + routine() : routine(); }
  struct Form;
  std::vector<Form> forms(const std::vector<std::string>& texts) const;
  template <class Shapes>
  void require_pairs(const std::vector<Form>& forms, const Shapes& shapes) const;

  const bool has_pairs_;
};

// The outputs of Kind<true>, an op on pairs, if any of the matrices is complex, else of Kind<false>.
template <template <bool> class Kind, class... Args>
Variables apply_lapack(std::span<const Variable> matrices, const Args&... args) {
  const bool any = std::any_of(matrices.begin(), matrices.end(), [](const Variable& each) { return is_complex(each); });
  return any ? make_ref<Kind<true>>(args...)->of(matrices) : make_ref<Kind<false>>(args...)->of(matrices);
}
template <template <bool> class Kind, class... Args>
Variables apply_lapack(const Variable& matrix, const Args&... args) {
  return apply_lapack<Kind>(std::span(&matrix, 1), args...);
}

// Samples with matrices of complex numbers, unless they are of real ones, on which decompositions can be tested.
std::vector<Sample> decomposition_samples(const OpRef& op, const std::vector<Dims>& shapes, bool smooth,
                                          bool is_of_real = false);
// x - x^H, twice the skew-Hermitian part of x.
Variable skew_part(const Variable& x);

}  // namespace bitale
