#include "ops/shapes/make_vector.hpp"

#include "bitale/core/config.hpp"
#include "bitale/ops/lowering.hpp"
#include "bitale/ops/ops.hpp"
#include "graph/literal.hpp"
#include "ops/analysis/dependencies.hpp"
#include "ops/analysis/interval.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/sample_values.hpp"

namespace bitale {
namespace {

// Up to this length an element is selected by comparisons, and so fuses into its readers; longer vectors are
// materialized.
constexpr std::size_t longest_choice = 8;

}  // namespace

Apply MakeVector::make_node(std::span<const Variable> inputs) const {
  Variables own;
  for (auto& input : inputs) {
    if (input.ndim() != 0)
      throw TypeError(cat("make_vector: expected scalars, got ", input.str(), " with ", input.ndim(), " dimensions"));
    if (is_discrete(dtype) && !is_discrete(input.dtype()))
      throw TypeError(cat("make_vector: ", input.str(), " has dtype ", dtype_name(input.dtype()),
                          ", whose values don't fit ", dtype_name(dtype), "; cast it first"));
    // A constant is converted immediately, so that known lengths are visible as constants.
    const Array* value = input.constant();
    own.push_back(value && input.dtype() != dtype ? constant(value->astype(dtype)) : cast(input, dtype));
  }
  return Apply(OpRef(this), own, {tensor_type(dtype, Dims{std::int64_t(own.size())})});
}

std::vector<Shape> MakeVector::infer_shape(const Apply& node, std::span<const Shape>) const {
  return {{int64_constant(std::int64_t(node.inputs().size()))}};
}

void MakeVector::perform(const Apply&, std::span<const Array> in, std::span<Array> out) const {
  out[0] = Array::empty(dtype, Dims{std::int64_t(in.size())});
  for (std::size_t i = 0; i < in.size(); ++i) out[0].take_index(0, std::int64_t(i)).assign(in[i]);
}

bool MakeVector::emit(Lowering& to, const Apply& node) const {
  const std::size_t count = node.inputs().size();
  if (count > longest_choice) {
    std::vector<Piece> pieces;
    for (std::size_t i = 0; i < count; ++i)
      pieces.push_back({{to.pool().integer(1)},
                        [&to, i](Index) { return std::vector<Expr>{to.pool().integer(std::int64_t(i))}; },
                        [&to, i](Index) { return to.in(int(i)); }});
    to.assemble(0, {}, std::move(pieces));
    return true;
  }
  to.element(0, [this, &to, count](Index at) {
    Expr out = count == 0 ? to.pool().number(0, dtype) : to.in(int(count) - 1);
    for (std::size_t k = count; k-- > 1;) out = select(equal(at[0], double(k - 1)), to.in(int(k) - 1), out);
    return out;
  });
  return true;
}

void MakeVector::emit_tensors(TensorLowering& to, const Apply& node) const {
  TensorBuilder& builder = to.builder();
  if (node.inputs().empty()) return to.out_known(0, Array::empty(dtype, {0}));
  TensorValues parts;
  for (int i = 0; i < int(node.inputs().size()); ++i)
    parts.push_back(builder.reshape(builder.convert(to.in(i), dtype), {1}));
  to.out(0, builder.concatenate(parts, 0));
}

Variables MakeVector::pullback(const Apply& node, std::span<const Variable> cotangents) const {
  if (cotangents[0].is_disconnected()) return no_gradients(node);
  Variables out;
  for (int i = 0; i < int(node.inputs().size()); ++i) out.push_back(subtensor(cotangents[0], {IndexItem(i)}));
  return out;
}

Variables MakeVector::pushforward(const Apply&, std::span<const Variable> tangents) const {
  Variables parts(tangents.begin(), tangents.end());
  bool any = false;
  for (auto& part : parts) {
    if (part.is_disconnected())
      part = constant(Array::zeros(dtype, Dims{}));
    else
      any = true;
  }
  return {any ? (*this)(parts) : disconnected()};
}

std::optional<Array> MakeVector::dependencies(const Apply& node, int, InputDependencies& inputs) const {
  Array out = Array::zeros(DType::Int64, inputs.lengths());
  for (std::size_t i = 0; i < node.inputs().size(); ++i)
    if (const std::optional<Array> given = inputs.of(int(i)))
      out.mutable_data_as<std::int64_t>()[i] = given->data_as<std::int64_t>()[0];
  return out;
}

std::vector<std::vector<bool>> MakeVector::connection_pattern(const Apply& node) const {
  return connect_first(node, node.inputs().size());
}

Apply MakeVector::vectorize_along(const Batch& batch) const {
  if (batch.ndim() == 0) return make_node(batch.inputs);
  Variables parts;
  for (int i = 0; i < int(batch.inputs.size()); ++i)
    parts.push_back(expand_dims(cast(with_batch(batch, i), dtype), batch.before()));
  const Variable joined = join(batch.before(), parts);
  // A join of one part is that part itself, whose owner may not be an operation on this vector.
  return joined.has_owner() ? joined.owner() : alloc(joined, lengths_of(joined)).owner();
}

Variable make_vector(const Operands& operands, std::optional<DType> dtype) {
  LocationScope here(operands.where);
  const Variables scalars = dtype ? operands.variables : with_literal_widths(operands.variables);
  if (!dtype) {
    std::vector<DType> dtypes;
    for (auto& scalar : scalars) dtypes.push_back(scalar.dtype());
    dtype = dtypes.empty() ? config::float_x() : promote(dtypes);
  }
  return (*make_ref<MakeVector>(*dtype))(scalars);
}

namespace {

std::vector<Sample> make_vector_samples() {
  auto a = sample_input(DType::Float64, {}), b = sample_input(DType::Float64, {});
  auto i = sample_input(DType::Int32, {});
  Sample longer{{}, {}};
  Variables many;
  for (int k = 0; k < 12; ++k) {
    many.push_back(sample_input(DType::Float64, {}));
    longer.values.push_back(Array(0.5 * k));
  }
  longer.node = make_ref<MakeVector>(DType::Float64)->make_node(many);
  return {{make_ref<MakeVector>(DType::Float64)->make_node({{a, b}}), {Array(1.5), Array(-2.0)}},
          {make_ref<MakeVector>(DType::Int32)->make_node({{i}}), {Array(std::int32_t(7))}},
          longer};
}

BITALE_REGISTER_OP(MakeVector, "A vector made of scalars.", make_vector_samples);

}  // namespace

Range MakeVector::range(const Apply& node, int, InputRanges& inputs) const { return interval::of_all(node, inputs); }

}  // namespace bitale
