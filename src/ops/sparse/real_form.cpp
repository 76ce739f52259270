#include "ops/sparse/real_form.hpp"

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/graph/op.hpp"
#include "bitale/ops/from_attributes.hpp"
#include "bitale/ops/registry.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/sample_values.hpp"

namespace bitale {

namespace {

struct Positions {
  std::vector<std::int64_t> bounds, rows, source, real, imaginary;
};

Positions positions(const Array& given_bounds, const Array& given_rows, bool is_triangle) {
  const Array held_bounds = given_bounds.astype(DType::Int64).contiguous(),
              held_rows = given_rows.astype(DType::Int64).contiguous();
  const std::int64_t *const at = held_bounds.data_as<std::int64_t>(), *const row = held_rows.data_as<std::int64_t>();
  const std::int64_t size = held_bounds.size() - 1, count = held_rows.size();
  bool fits = size >= 0 && at[0] == 0 && at[size] == count;
  for (std::int64_t j = 0; fits && j < size; ++j) fits = at[j] <= at[j + 1];
  if (!fits) throw ValueError("sparse: expected bounds that ascend from 0 to the number of positions");
  Positions out{.bounds = {0}, .rows = {}, .source = {}, .real = {}, .imaginary = {}};
  const std::int64_t re = 0, im = count, minus_im = 2 * count, zero = 3 * count;
  const auto add = [&](std::int64_t to, std::int64_t from) {
    out.rows.push_back(to);
    out.source.push_back(from);
  };
  for (std::int64_t j = 0; j < size; ++j) {
    const auto on_diagonal = [&](std::int64_t k) { return is_triangle && k == at[j]; };
    for (std::int64_t k = at[j]; k < at[j + 1]; ++k) {
      out.real.push_back(std::int64_t(out.rows.size()));
      out.imaginary.push_back(on_diagonal(k) ? -1 : out.real.back() + 1);
      add(2 * row[k], re + k);
      add(2 * row[k] + 1, on_diagonal(k) ? zero : im + k);
    }
    out.bounds.push_back(std::int64_t(out.rows.size()));
    for (std::int64_t k = at[j]; k < at[j + 1]; ++k) {
      if (!on_diagonal(k)) add(2 * row[k], minus_im + k);
      add(2 * row[k] + 1, re + k);
    }
    out.bounds.push_back(std::int64_t(out.rows.size()));
  }
  for (std::int64_t& each : out.imaginary)
    if (each < 0) each = std::int64_t(out.rows.size());
  return out;
}

// Inputs: bounds, rows.
class SparseRealForm final : public OpOf<SparseRealForm> {
 public:
  explicit SparseRealForm(bool is_triangle) : is_triangle(is_triangle) {}

  bool is_triangle;
  static constexpr auto fields = attribute_list(attribute("is_triangle", &SparseRealForm::is_triangle));

  std::string_view name() const override { return "SparseRealForm"; }
  Apply make_node(std::span<const Variable> inputs) const override {
    require_inputs(*this, inputs, 2);
    for (const Variable& each : inputs)
      if (each.ndim() != 1 || !is_integer(each.dtype()))
        throw TypeError(
            cat("sparse: expected two vectors of integers, got ", each.str(), " of type ", each.type()->str()));
    std::vector<Type> types(5, tensor_type(DType::Int64, Dims(1, unknown_length)));
    return Apply(OpRef(this), {inputs.begin(), inputs.end()}, std::move(types));
  }
  void perform(const Apply&, std::span<const Array> in, std::span<Array> out) const override {
    const Positions found = positions(in[0], in[1], is_triangle);
    out[0] = Array(found.bounds);
    out[1] = Array(found.rows);
    out[2] = Array(found.source);
    out[3] = Array(found.real);
    out[4] = Array(found.imaginary);
  }
  std::vector<std::vector<bool>> connection_pattern(const Apply&) const override {
    return std::vector<std::vector<bool>>(2, std::vector<bool>(5, false));
  }
  Variables pullback(const Apply& node, std::span<const Variable>) const override { return no_gradients(node); }
};

// ---- samples --------------------------------------------------------------------------------------------------------

std::vector<Sample> sparse_real_form_samples() {
  std::vector<Sample> out;
  const auto add = [&](const std::vector<std::int64_t>& bounds, const std::vector<std::int64_t>& rows, bool triangle) {
    std::vector<Array> values = {Array(bounds), Array(rows)};
    Variables inputs;
    for (const Array& value : values) inputs.push_back(sample_input(value.dtype(), Dims{unknown_length}));
    out.push_back(
        {.node = make_ref<SparseRealForm>(triangle)->make_node(inputs), .values = std::move(values), .smooth = false});
  };
  for (const bool triangle : {false, true}) {
    add({0, 2, 4, 5}, {0, 1, 1, 2, 2}, triangle);
    add({0}, {}, triangle);
  }
  return out;
}
BITALE_REGISTER_OP(SparseRealForm, "The pattern of the real form of a complex sparse matrix.",
                   sparse_real_form_samples);

}  // namespace

RealForm sparse_real_form(const Variable& bounds, const Variable& rows, bool is_triangle) {
  if (bounds.is_constant() && rows.is_constant()) {
    const Positions found = positions(*bounds.constant(), *rows.constant(), is_triangle);
    return {constant(Array(found.bounds)), constant(Array(found.rows)), constant(Array(found.source)),
            constant(Array(found.real)), constant(Array(found.imaginary))};
  }
  const Variable inputs[] = {bounds, rows};
  const Apply node = make_ref<SparseRealForm>(is_triangle)->make_node(inputs);
  return {node.output(0), node.output(1), node.output(2), node.output(3), node.output(4)};
}

}  // namespace bitale
