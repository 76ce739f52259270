// SpecifyAssumptions returns its input and carries facts that the user states about it. The node is kept until
// rewriting is done, and then removed. The interpreter checks the facts.
#include "bitale/ops/assume.hpp"

#include "bitale/core/text.hpp"
#include "bitale/ops/lowering.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/ops/registry.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/sample_values.hpp"
#include "ops/tensor_lowering.hpp"

namespace bitale {

namespace {

class SpecifyAssumptions final : public Op, public StatesStructure, public EmitsTensors {
 public:
  explicit SpecifyAssumptions(const std::string& facts)
      : facts(Structure::parse(facts).str()), stated_(Structure::parse(facts)) {}
  std::string facts;
  static constexpr auto fields = attribute_list(attribute("facts", &SpecifyAssumptions::facts));

  std::string_view name() const override { return "SpecifyAssumptions"; }
  Attributes attributes() const override { return collect_attributes(*this, fields); }
  std::string label() const override { return cat("SpecifyAssumptions{", facts, "}"); }
  std::string pprint_text(std::span<const std::string> inputs) const override { return inputs[0]; }

  Apply make_node(std::span<const Variable> inputs) const override {
    require_inputs(*this, inputs, 1);
    const Variable& x = inputs[0];
    if (stated_.is_conflict())
      throw ConflictingAssumptionsError(cat("assume: the statements contradict each other: the matrix would be both ",
                                            join(stated_.contradictions(), ", "), " and not"));
    bool of_square = false, of_matrix = false;
    for (const Fact fact : {Fact::Diagonal, Fact::Symmetric, Fact::Orthogonal, Fact::Square})
      of_square |= stated_.is(fact);
    for (const Fact fact :
         {Fact::LowerTriangular, Fact::UpperTriangular, Fact::Selection, Fact::PositiveDiagonal, Fact::Tridiagonal})
      of_matrix |= stated_.is(fact);
    of_matrix |= of_square;
    if (of_matrix && x.ndim() < 2)
      throw ShapeError(
          cat("assume: expected a matrix, or a batch of them, got ", x.str(), " with ", x.ndim(), " dimensions"));
    if (of_square) {
      const std::int64_t rows = x.static_shape()[x.static_shape().size() - 2], columns = x.static_shape().back();
      if (rows != columns && rows != unknown_length && columns != unknown_length)
        throw ShapeError(
            cat("assume: expected square matrices for ", facts, ", got ", rows, " rows and ", columns, " columns"));
    }
    return Apply(OpRef(this), {x}, {x.type()});
  }
  std::vector<Shape> infer_shape(const Apply&, std::span<const Shape> inputs) const override { return {inputs[0]}; }
  void perform(const Apply& node, std::span<const Array> in, std::span<Array> out) const override {
    if (const auto fact = contradicted_fact(in[0], stated_))
      throw ValueError(
          cat("assume: `", node.input(0).str(), "` was stated to be ", long_name(*fact), ", and its value is not"));
    out[0] = in[0];
  }
  // Facts about complex matrices are about Hermitian and unitary ones where those about real matrices are about
  // symmetric and orthogonal ones. Only what concerns zeros holds of both parts.
  ComplexForm complex_form() const override { return ComplexForm::own; }
  PartsOfOutputs complex_parts(const Apply&, std::span<const ComplexParts> inputs) const override {
    Structure of_parts;
    for (const Fact fact : {Fact::Diagonal, Fact::LowerTriangular, Fact::UpperTriangular, Fact::Tridiagonal})
      if (stated_.is(fact)) of_parts.add(fact);
    const auto stated = [&](const Variable& part) { return part.defined() ? assume(part, of_parts) : part; };
    return {{{stated(inputs[0].real), stated(inputs[0].imag)}}};
  }
  void emit_tensors(TensorLowering& to, const Apply&) const override { to.out(0, to.in(0)); }
  bool emit(Lowering& to, const Apply&) const override {
    to.element(0, [&to](Index at) { return to.in(0, at); });
    return true;
  }
  Variables pullback(const Apply&, std::span<const Variable> cotangents) const override { return {cotangents[0]}; }
  Variables pushforward(const Apply&, std::span<const Variable> tangents) const override { return {tangents[0]}; }
  bool has_pushforward() const override { return true; }
  std::vector<std::vector<bool>> connection_pattern(const Apply& node) const override { return connect_first(node, 1); }
  Apply vectorize(const Apply&, std::span<const Variable> batched) const override { return make_node(batched); }
  std::vector<int> view_of(const Apply&, int) const override { return {0}; }

  Structure structure(const Apply&, int, InputStructures& inputs) const override {
    Structure out = inputs.of(0);
    out.add(stated_);
    return out;
  }
  Structure stated_of_input(int) const override { return stated_; }

 private:
  const Structure stated_;
};

std::vector<Sample> assume_samples() {
  constexpr auto any = unknown_length;
  std::vector<Sample> out;
  const auto add = [&](DType dtype, const Dims& type, const Dims& shape, const char* facts, auto element) {
    const Variable x[] = {sample_input(dtype, type, "x")};
    Array value = sample_values(DType::Float64, shape);
    for (std::int64_t k = 0, n = shape.back(); k < value.size(); ++k)
      value.mutable_data_as<double>()[k] = element(value.data_as<double>()[k], k / n % n, k % n);
    out.push_back({make_ref<SpecifyAssumptions>(Structure::parse(facts).str())->make_node(x),
                   {value.astype(dtype)},
                   1e-6,
                   dtype == DType::Float64});
  };
  add(DType::Float64, {any, any}, {3, 3}, "pd",
      [](double, std::int64_t i, std::int64_t j) { return i == j ? 3.0 : 0.5 + 0.25 * double(i + j); });
  add(DType::Float32, {2, any, any}, {2, 3, 3}, "sym,!diag",
      [](double, std::int64_t i, std::int64_t j) { return 0.5 - 0.25 * double(i * j); });
  return out;
}

BITALE_REGISTER_OP(SpecifyAssumptions,
                   "Its input, with facts stated of it as a matrix: diagonal, positive definite, ...", assume_samples);

}  // namespace

Variable assume(const Operand& x, const Structure& facts) {
  const LocationScope here(x.where);
  if (facts.is_unknown()) return x.variable;
  const Variable out = (*make_ref<SpecifyAssumptions>(facts.str()))({x.variable});
  const Structure known = structure_of(out);
  if (known.is_conflict())
    throw ConflictingAssumptionsError(cat("assume(", facts.str(), "): of `", x.variable.str(), "` it is known that ",
                                          structure_of(x.variable).str(), "; it would be both ",
                                          join(known.contradictions(), ", "), " and not"));
  return out;
}

}  // namespace bitale
