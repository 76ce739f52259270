// Complex numbers as pairs of real ones.
#include "ops/complex/complex.hpp"

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/graph/range.hpp"
#include "bitale/graph/test_value.hpp"
#include "bitale/graph/traversal.hpp"
#include "bitale/ops/lowering.hpp"
#include "bitale/ops/ops.hpp"
#include "graph/calculus.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/elementwise/elemwise.hpp"
#include "ops/sample_values.hpp"
#include "ops/scalar/record.hpp"

namespace bitale {

// ---- AsPairs --------------------------------------------------------------------------------------------------------

Apply AsPairs::make_node(std::span<const Variable> inputs) const {
  require_inputs(*this, inputs, 1);
  if (!is_complex(inputs[0].dtype()))
    throw TypeError(
        cat("as_pairs: expected a complex tensor, got `", inputs[0].str(), "` of type ", inputs[0].type()->str()));
  Dims shape = inputs[0].static_shape();
  shape.push_back(2);
  return Apply(OpRef(this), {inputs[0]}, {tensor_type(component_dtype(inputs[0].dtype()), shape)});
}

std::vector<Shape> AsPairs::infer_shape(const Apply&, std::span<const Shape> inputs) const {
  Shape out = inputs[0];
  out.push_back(int64_constant(2));
  return {out};
}

void AsPairs::perform(const Apply&, std::span<const Array> in, std::span<Array> out) const {
  out[0] = in[0].as_pairs();
}

// In native code, a complex tensor is stored as its pairs.
bool AsPairs::emit(Lowering& to, const Apply&) const {
  to.element(
      0, [&to](Index at) { return to.in(0, at); }, 0);
  return true;
}

void AsPairs::emit_tensors(TensorLowering& to, const Apply&) const { to.out(0, to.builder().as_pairs(to.in(0))); }

Variables AsPairs::pullback(const Apply&, std::span<const Variable> g) const {
  if (g[0].is_disconnected()) return {disconnected()};
  return {complex_of({subtensor(g[0], {Ellipsis(), 0}), subtensor(g[0], {Ellipsis(), 1})})};
}

Variables AsPairs::pushforward(const Apply&, std::span<const Variable> t) const {
  return {t[0].is_disconnected() ? disconnected() : (*this)({t[0]})};
}

Apply AsPairs::vectorize(const Apply&, std::span<const Variable> batched) const { return make_node(batched); }

Range AsPairs::range(const Apply&, int, InputRanges&) const { return {}; }

// ---- Complex --------------------------------------------------------------------------------------------------------

Apply Complex::make_node(std::span<const Variable> inputs) const {
  require_inputs(*this, inputs, 2);
  const Variable &re = inputs[0], &im = inputs[1];
  if (!is_float(re.dtype()) || re.dtype() != im.dtype() || itemsize(re.dtype()) < 4 || re.ndim() != im.ndim())
    throw TypeError(cat("Complex: expected two tensors of one rank and dtype, float32 or float64, got ",
                        re.type()->str(), " and ", im.type()->str()));
  Dims shape = re.static_shape();
  for (int d = 0; d < int(shape.size()); ++d)
    shape[std::size_t(d)] = common_length(shape[std::size_t(d)], im.static_shape()[std::size_t(d)], d, "complex");
  return Apply(OpRef(this), {re, im}, {tensor_type(promote(re.dtype(), DType::Complex64), shape)});
}

std::vector<Shape> Complex::infer_shape(const Apply&, std::span<const Shape> inputs) const {
  Shape out = inputs[0];
  for (std::size_t d = 0; d < out.size(); ++d)
    if (!known_integer(out[d]) && known_integer(inputs[1][d])) out[d] = inputs[1][d];
  return {out};
}

void Complex::perform(const Apply& node, std::span<const Array> in, std::span<Array> out) const {
  if (!(in[0].shape() == in[1].shape()))
    throw ShapeError(cat("complex: the parts have different shapes, ", tuple_text(in[0].shape()), " and ",
                         tuple_text(in[1].shape())));
  out[0] = Array::empty(node.output().dtype(), in[0].shape());
  out[0].component(0).assign(in[0]);
  out[0].component(1).assign(in[1]);
}

bool Complex::emit(Lowering& to, const Apply&) const {
  const auto re = to.shape_in(0), im = to.shape_in(1);
  std::vector<Piece> pieces;
  for (std::size_t d = 0; d < re.size(); ++d)
    if (!(re[d] == im[d])) to.require(equal(re[d], im[d]), cat("complex: the parts differ in length in dimension ", d));
  for (int part = 0; part < 2; ++part)
    pieces.push_back({std::vector<Expr>(re.begin(), re.end()),
                      [&to, part](Index at) {
                        std::vector<Expr> index(at.begin(), at.end());
                        index.push_back(to.pool().integer(part));
                        return index;
                      },
                      [&to, part](Index at) { return to.in(part, at); }});
  to.assemble(0, {}, std::move(pieces));
  return true;
}

void Complex::emit_tensors(TensorLowering& to, const Apply&) const {
  if (!(to.lengths_in(0) == to.lengths_in(1)))
    throw ShapeError(cat("complex: the parts have different shapes, ", tuple_text(to.lengths_in(0)), " and ",
                         tuple_text(to.lengths_in(1))));
  to.out(0, to.builder().complex(to.in(0), to.in(1)));
}

Variables Complex::pullback(const Apply&, std::span<const Variable> g) const {
  if (g[0].is_disconnected()) return {disconnected(), disconnected()};
  return {real(g[0]), imag(g[0])};
}

Variables Complex::pushforward(const Apply& node, std::span<const Variable> t) const {
  if (t[0].is_disconnected() && t[1].is_disconnected()) return {disconnected()};
  Variable parts[2];
  for (int i = 0; i < 2; ++i)
    parts[i] = t[std::size_t(i)].is_disconnected() ? zeros_like(node.input(i)) : t[std::size_t(i)];
  return {(*this)({parts[0], parts[1]})};
}

Apply Complex::vectorize(const Apply& node, std::span<const Variable> batched) const {
  const Variable parts[] = {with_batch({node, batched}, 0, node.input(0).ndim()),
                            with_batch({node, batched}, 1, node.input(1).ndim())};
  return make_node(parts);
}

PartsOfOutputs Complex::complex_parts(const Apply&, std::span<const ComplexParts> inputs) const {
  return {{{inputs[0].real, inputs[1].real}}};
}

// ---- parts ----------------------------------------------------------------------------------------------------------

ComplexParts parts_of(const Variable& variable) {
  if (!is_complex(variable)) return {variable, {}};
  if (const Array* value = variable.constant())
    return {constant(value->component(0).copy()), constant(value->component(1).copy())};
  if (const Apply owner = variable.owner(); owner.defined() && dynamic_cast<const Complex*>(&owner.op()))
    return {owner.input(0), owner.input(1)};
  static const OpRef op = make_ref<AsPairs>();
  const Variable pairs = (*op)({variable});
  return {subtensor(pairs, {Ellipsis(), 0}), subtensor(pairs, {Ellipsis(), 1})};
}

Variable imaginary(const ComplexParts& parts) { return parts.imag.defined() ? parts.imag : zeros_like(parts.real); }

Variable complex_of(const ComplexParts& parts) {
  static const OpRef op = make_ref<Complex>();
  return (*op)({parts.real, imaginary(parts)});
}

PartsOfOutputs parts_of_outputs(const Apply& node, std::span<const ComplexParts> inputs) {
  if (node.op().complex_form() != ComplexForm::by_parts) return node.op().complex_parts(node, inputs);
  // Applies the op to the real parts, and to the imaginary ones.
  Apply made[2];
  for (int part = 0; part < 2; ++part) {
    Variables given;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      given.push_back(!is_complex(node.input(int(i))) || part == 0 ? inputs[i].real : imaginary(inputs[i]));
    made[part] = node.op().component_op()->make_node(given);
  }
  std::vector<ComplexParts> out;
  for (int k = 0; k < int(node.output_count()); ++k)
    out.push_back({made[0].output(k), is_complex(node.output(k)) ? made[1].output(k) : Variable()});
  return out;
}

Variables row_of_parts(std::span<const Variable> variables, std::span<const ComplexParts> parts) {
  Variables out;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    out.push_back(parts[i].real);
    if (is_complex(variables[i])) out.push_back(imaginary(parts[i]));
  }
  return out;
}

std::vector<ComplexParts> joined_parts(std::span<const Variable> variables, std::span<const Variable> row) {
  std::vector<ComplexParts> out;
  std::size_t at = 0;
  for (auto& variable : variables) {
    const Variable real = row[at++];
    out.push_back({real, is_complex(variable) ? row[at++] : Variable()});
  }
  return out;
}

InnerGraphRef graph_of_parts(const InnerGraph& graph) {
  const TestValuesOff none_are_known;
  Variables leaves, values, outputs;
  for (auto& input : graph.inputs()) {
    if (!is_complex(input)) {
      leaves.emplace_back(input.type(), input.name());
      values.push_back(leaves.back());
      continue;
    }
    const Type part = tensor_type(component_dtype(input.dtype()), input.static_shape());
    for (std::string_view of : {"real", "imag"})
      leaves.emplace_back(part, input.name().empty() ? "" : cat(input.name(), ".", of));
    values.push_back(complex_of({leaves[leaves.size() - 2], leaves.back()}));
  }
  for (auto& output : graph.applied_to(values)) {
    if (!is_complex(output)) {
      outputs.push_back(output);
      continue;
    }
    outputs.push_back(real(output));
    outputs.push_back(imag(output));
  }
  return make_ref<InnerGraph>(leaves, outputs);
}

// ---- derivatives ----------------------------------------------------------------------------------------------------

Variable as_gradient(const Variable& value, const Variable& input) {
  if (!is_complex(value) || is_complex(input)) return value;
  return real(value);
}

namespace {

// The formulas of a node on new leaves in place of the parts of its inputs. The parts themselves may depend on each
// other, or two inputs may have the same parts, but derivatives are taken by each part separately. The results are then
// expressed in terms of the node's inputs.
class SplitNode {
 public:
  std::vector<ComplexParts> inputs, outputs;  // leaves, and formulas of them

  explicit SplitNode(const Apply& node) {
    for (auto& input : node.inputs()) {
      const ComplexParts own = named_parts(input);
      inputs.push_back({leaf(own.real), own.imag.defined() ? leaf(own.imag) : Variable()});
    }
    PartsOfOutputs found = parts_of_outputs(node, inputs);
    if (!found)
      throw NotImplementedError(cat(node.op().label(), " of complex numbers has no derivative that is implemented"));
    outputs = std::move(*found);
  }

  static Variables row(std::span<const ComplexParts> parts) {
    Variables out;
    for (auto& [re, im] : parts) {
      out.push_back(re);
      if (im.defined()) out.push_back(im);
    }
    return out;
  }
  // The given derivatives, with new leaves in place of their parts.
  Variables leaves(std::span<const ComplexParts> parts, std::span<const Variable> given) {
    Variables out;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const bool none = given[i].is_disconnected();
      const ComplexParts own = none ? ComplexParts{given[i], given[i]} : named_parts(given[i]);
      out.push_back(none ? given[i] : leaf(own.real));
      if (parts[i].imag.defined()) out.push_back(none ? given[i] : leaf(imaginary(own)));
    }
    return out;
  }
  // Joins derivatives of (or by) parts to derivatives of (or by) the variables.
  Variables joined(std::span<const ComplexParts> parts, Variables row, std::span<const Variable> variables) const {
    row = in_terms_of_inputs(row);
    Variables out;
    std::size_t at = 0;
    const auto zero_or = [](const Variable& v, const Variable& like) {
      return v.is_disconnected() ? zeros_like(like) : cast(v, like.dtype());
    };
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const Variable re = row[at++], im = parts[i].imag.defined() ? row[at++] : Variable();
      if (re.is_null() || (im.defined() && im.is_null()))
        out.push_back(re.is_null() ? re : im);
      else if (!is_complex(variables[i]) || (re.is_disconnected() && (!im.defined() || im.is_disconnected())))
        out.push_back(re);
      else
        out.push_back(
            complex_of({zero_or(re, real(variables[i])), im.defined() ? zero_or(im, real(variables[i])) : im}));
    }
    return out;
  }

 private:
  // The parts as `real` and `imag` nodes, which the pass that splits a graph can decompose; a view of memory would need
  // the complex value in memory.
  static ComplexParts named_parts(const Variable& variable) {
    return is_complex(variable) ? ComplexParts{real(variable), imag(variable)} : ComplexParts{variable, {}};
  }
  Variable leaf(const Variable& stands_for) {
    Variable made(stands_for.type());
    back_.emplace_back(made, stands_for);
    return made;
  }
  Variables in_terms_of_inputs(const Variables& found) const {
    Variables values;
    const auto has_value = [](const Variable& v) { return !v.is_null() && !v.is_disconnected(); };
    for (auto& v : found)
      if (has_value(v)) values.push_back(v);
    values = clone_replace(values, back_);
    Variables out;
    std::size_t at = 0;
    for (auto& v : found) out.push_back(has_value(v) ? values[at++] : v);
    return out;
  }

  Replacements back_;
};

Variables outputs_of(const Apply& node) {
  Variables out;
  for (int k = 0; k < int(node.output_count()); ++k) out.push_back(node.output(k));
  return out;
}

}  // namespace

Variables pullback_through_parts(const Apply& node, std::span<const Variable> cotangents) {
  SplitNode split(node);
  const Variables given = split.leaves(split.outputs, cotangents);
  Variables found = calculus().pullback(SplitNode::row(split.outputs), SplitNode::row(split.inputs), given);
  return split.joined(split.inputs, std::move(found), Variables(node.inputs().begin(), node.inputs().end()));
}

Variables pushforward_through_parts(const Apply& node, std::span<const Variable> tangents) {
  SplitNode split(node);
  const Variables given = split.leaves(split.inputs, tangents);
  Variables found = calculus().pushforward(SplitNode::row(split.outputs), SplitNode::row(split.inputs), given);
  return split.joined(split.outputs, std::move(found), outputs_of(node));
}

// ---- public functions -----------------------------------------------------------------------------------------------

Variable complex(const Operand& re, const Operand& im) {
  const LocationScope here(re.where);
  const DType dtypes[] = {re.dtype(), im.dtype()};
  for (DType dtype : dtypes)
    if (is_complex(dtype))
      throw TypeError(cat("complex: expected real operands, got one of dtype ", dtype_name(dtype)));
  const DType dtype = component_dtype(promote(records::upgrade_to_float(dtypes).out, DType::Complex64));
  const Variable given[] = {cast(re, dtype), cast(im, dtype)};
  const Variables padded = pad_ranks(given);
  Variable parts[] = {padded[0], padded[1]};
  if (parts[0].static_shape() != parts[1].static_shape() || parts[0].ndim() > 0) {
    const auto repeats = [&](int i) {
      for (std::size_t d = 0; d < parts[0].static_shape().size(); ++d)
        if (padded[std::size_t(i)].static_shape()[d] == 1 && padded[std::size_t(1 - i)].static_shape()[d] != 1)
          return true;
      return false;
    };
    if (repeats(0)) parts[0] = second(padded[1], padded[0]);
    if (repeats(1)) parts[1] = second(padded[0], padded[1]);
  }
  return complex_of({parts[0], parts[1]});
}

Variable complex_from_polar(const Operand& abs, const Operand& angle) {
  const LocationScope here(abs.where);
  return complex(abs.variable * cos(angle), abs.variable * sin(angle));
}

namespace {
Variable applied(const char* name, const Operand& z) {
  const LocationScope here(z.where);
  return apply_elemwise(name, {&z.variable, 1});
}
}  // namespace

Variable real(const Operand& z) { return is_complex(z.dtype()) ? applied("real", z) : z.variable; }
Variable imag(const Operand& z) { return is_complex(z.dtype()) ? applied("imag", z) : zeros_like(z); }
Variable conj(const Operand& z) { return is_complex(z.dtype()) ? applied("conj", z) : z.variable; }
Variable angle(const Operand& z) { return applied("angle", z); }

// ---- samples --------------------------------------------------------------------------------------------------------

namespace {

std::vector<Sample> as_pairs_samples() {
  std::vector<Sample> out;
  for (DType dtype : {DType::Complex64, DType::Complex128}) {
    const Variable z[] = {sample_input(dtype, {unknown_length, 3}, "z")};
    out.push_back({make_ref<AsPairs>()->make_node(z), {sample_values(dtype, {2, 3})}});
  }
  return out;
}

std::vector<Sample> complex_samples() {
  std::vector<Sample> out;
  for (DType dtype : {DType::Float32, DType::Float64}) {
    const Variable parts[] = {sample_input(dtype, {unknown_length, 3}, "re"),
                              sample_input(dtype, {2, unknown_length}, "im")};
    out.push_back(
        {make_ref<Complex>()->make_node(parts), {sample_values(dtype, {2, 3}), sample_values(dtype, {2, 3}, 1)}});
  }
  return out;
}

BITALE_REGISTER_OP(AsPairs, "Complex numbers as real ones, with an axis of length 2 behind all others.",
                   as_pairs_samples);
BITALE_REGISTER_OP(Complex, "Complex numbers out of their real and imaginary parts.", complex_samples);

}  // namespace

}  // namespace bitale
