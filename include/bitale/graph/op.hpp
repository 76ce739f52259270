// Op: the definition of an operation, with all its duties side by side (one file per op). An Op is immutable and
// shared; Apply nodes refer to it. Attributes are declared once and give equality, hash, printing and keywords.
#pragma once

#include <atomic>
#include <initializer_list>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bitale/core/array.hpp"
#include "bitale/graph/attributes.hpp"
#include "bitale/graph/complex.hpp"
#include "bitale/graph/variable.hpp"

namespace bitale {

class Lowering;     // ops/lowering.hpp: the interface of ops to the lowering
class InputRanges;  // graph/range.hpp
struct Range;
struct ScalarOp;  // ops/elementwise/scalar_op.hpp: the record of an elementwise operation

// The lengths of one tensor: an int64 scalar per dimension.
using Shape = Variables;

class Op : public RefCounted {
 public:
  virtual std::string_view name() const = 0;  // "CAReduce"
  virtual Attributes attributes() const { return {}; }
  // How dprint shows it: "Sum{axis=1}". Default: name and attributes.
  virtual std::string label() const;
  // How pprint shows it, given its inputs' texts: "x[0:3]"; atom_text (core/text.hpp) brackets an input where that is
  // needed. Default, an empty text: as a function, "name(inputs, attributes)".
  virtual std::string pprint_text(std::span<const std::string> /*inputs*/) const { return {}; }
  bool equals(const Op& other) const;
  std::size_t hash() const;  // computed once
  // A small number that ops of one name share; of elementwise ones, those of one scalar op. Computed once.
  std::uint32_t kind() const;
  // The scalar op that it applies to every element, or nullptr.
  virtual const ScalarOp* elementwise() const { return nullptr; }

  // Checks the inputs and infers dtypes and static shapes. TypeError, ShapeError, ValueError.
  virtual Apply make_node(std::span<const Variable> inputs) const = 0;
  // Lengths of the outputs as expressions of the inputs' lengths (and values, where they decide).
  // Default: unknown (an empty vector): lengths are then read off the computed value.
  virtual std::vector<Shape> infer_shape(const Apply& node, std::span<const Shape> inputs) const;

  // Reference evaluation. out[i] is overwritten with the result (fresh, or a view of an input when view_map says so).
  virtual void perform(const Apply& node, std::span<const Array> in, std::span<Array> out) const = 0;

  // Native code: element rules, loops or runtime calls, added to `to`. False: none; native code calls back `perform`.
  virtual bool emit(Lowering& to, const Apply& node) const;

  // Reverse derivative: one cotangent per input, given one per output (some may be disconnected()).
  // An input's cotangent may be disconnected() or undefined_gradient(why).
  virtual Variables pullback(const Apply& node, std::span<const Variable> cotangents) const;
  // Forward derivative: one tangent per output, given one per input (some may be disconnected()).
  // Default: by transposing the pullback twice.
  virtual Variables pushforward(const Apply& node, std::span<const Variable> tangents) const;
  virtual bool has_pushforward() const { return false; }
  // Whether the pullback is known to be linear in the cotangents, so that those of equal nodes may be added before it.
  // An op with a pushforward whose pullback is not linear must say so.
  virtual bool has_linear_pullback() const { return has_pushforward(); }
  // connection_pattern()[input][output]: whether the output's value depends differentiably on the input.
  virtual std::vector<std::vector<bool>> connection_pattern(const Apply& node) const;

  // The same operation when inputs have gained leading batch dimensions. batched[i] has batch_ndim(i) more dimensions
  // than the original input i (0 or the same number for all). NotImplementedError naming the op by default.
  virtual Apply vectorize(const Apply& node, std::span<const Variable> batched) const;

  // Which inputs an output may be a view of, and which inputs it destroys; per output.
  virtual std::vector<int> view_of(const Apply& node, int output) const;
  virtual std::vector<int> destroys(const Apply& node, int output) const;
  // Bounds of an output's values, given those of the inputs; the dtype's own bounds need not be included. Default:
  // those of the input that the output is a view of, or none.
  virtual Range range(const Apply& node, int output, InputRanges& inputs) const;
  // How the op treats complex inputs (complex.hpp).
  virtual ComplexForm complex_form() const { return ComplexForm::none; }
  // The op to apply to each part of complex numbers (for by_parts). Default: this one.
  virtual OpRef component_op() const { return OpRef(this); }
  // For a node with complex inputs or outputs, the parts of each output as formulas of the inputs' parts. nullopt:
  // there is no such formula, and `perform` computes the node.
  virtual PartsOfOutputs complex_parts(const Apply& node, std::span<const ComplexParts> inputs) const;
  // Whether constant folding may evaluate this node. (For an Alloc of a large shape it may not.)
  virtual bool may_fold(const Apply& node) const;

  // Builds the node and returns its only output.
  Variable operator()(std::span<const Variable> inputs) const;
  Variable operator()(std::initializer_list<Variable> inputs,
                      std::source_location where = std::source_location::current()) const;

 private:
  virtual std::string kind_name() const { return std::string(name()); }

  // Zero means not computed yet. A copy starts at zero, since it may be given other attributes.
  template <class T>
  struct Cached {
    Cached() = default;
    Cached(const Cached&) {}
    Cached& operator=(const Cached&) { return value = 0, *this; }
    std::atomic<T> value{0};
  };
  mutable Cached<std::size_t> hash_;
  mutable Cached<std::uint32_t> kind_;
};

// Base for ops with attributes: `static constexpr auto fields = attribute_list(attribute("axis", &Op::axis), ...)`.
template <class Derived>
class OpOf : public Op {
 public:
  Attributes attributes() const override {
    return collect_attributes(static_cast<const Derived&>(*this), Derived::fields);
  }
};

}  // namespace bitale
