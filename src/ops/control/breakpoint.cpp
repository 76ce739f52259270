#include "ops/control/breakpoint.hpp"

#include "bitale/core/breakpoint.hpp"
#include "bitale/ops/debugging.hpp"
#include "bitale/ops/registry.hpp"
#include "graph/replay.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/sample_values.hpp"

namespace bitale {

Apply PdbBreakpoint::make_node(std::span<const Variable> inputs) const {
  if (inputs.size() < 2)
    throw ValueError(cat("PdbBreakpoint: expected a condition and variables, got ", inputs.size(), " inputs"));
  if (inputs[0].ndim() != 0)
    throw TypeError(cat("PdbBreakpoint: expected a scalar condition, got `", inputs[0].str(), "` of ", inputs[0].ndim(),
                        " dimensions"));
  std::vector<Type> types;
  for (auto& variable : inputs.subspan(1)) types.push_back(tensor_type(variable.dtype(), variable.static_shape()));
  return Apply(OpRef(this), Variables(inputs.begin(), inputs.end()), types);
}

std::vector<Shape> PdbBreakpoint::infer_shape(const Apply&, std::span<const Shape> inputs) const {
  return {inputs.begin() + 1, inputs.end()};
}

void PdbBreakpoint::perform(const Apply& node, std::span<const Array> in, std::span<Array> out) const {
  for (std::size_t k = 0; k < out.size(); ++k) out[k] = in[k + 1];
  if (in[0].item() == 0 || Replay::is_running()) return;
  std::vector<Array> values;
  for (auto& value : in.subspan(1)) values.push_back(value.copy());
  break_here(cat("breakpoint '", title, "'"), values);
  for (std::size_t k = 0; k < out.size(); ++k) {
    out[k] = filter(node.output(int(k)).tensor(), values[k]);
    if (out[k].shape() != in[k + 1].shape())
      throw ShapeError(cat("PdbBreakpoint: the shape of `", node.input(int(k) + 1).str(), "` was changed from ",
                           tuple_text(in[k + 1].shape()), " to ", tuple_text(out[k].shape())));
  }
}

Variables PdbBreakpoint::pullback(const Apply&, std::span<const Variable> cotangents) const {
  Variables out{disconnected()};
  out.insert(out.end(), cotangents.begin(), cotangents.end());
  return out;
}

Variables PdbBreakpoint::pushforward(const Apply&, std::span<const Variable> tangents) const {
  return {tangents.begin() + 1, tangents.end()};
}

std::vector<std::vector<bool>> PdbBreakpoint::connection_pattern(const Apply& node) const {
  std::vector pattern(node.inputs().size(), std::vector(node.output_count(), false));
  for (std::size_t k = 0; k < node.output_count(); ++k) pattern[k + 1][k] = true;
  return pattern;
}

std::vector<int> PdbBreakpoint::view_of(const Apply&, int output) const { return {output + 1}; }

std::vector<Variable> breakpoint(std::string name, const Operand& condition, const std::vector<Operand>& variables) {
  LocationScope here(condition.where);
  Variables inputs{condition.variable};
  for (auto& variable : variables) inputs.push_back(variable.variable);
  return make_ref<PdbBreakpoint>(std::move(name))->make_node(inputs).outputs();
}

namespace {

std::vector<Sample> breakpoint_samples() {
  auto x = sample_input(DType::Float64, {unknown_length, unknown_length}), n = sample_input(DType::Int32, {});
  auto condition = sample_input(DType::Bool, {});
  return {{make_ref<PdbBreakpoint>("here")->make_node({{condition, x, n}}),
           {Array(false), sample_values(DType::Float64, {2, 3}), Array(3.0).astype(DType::Int32)}}};
}

BITALE_REGISTER_OP(PdbBreakpoint, "The inputs after a condition; a debugger is entered when that holds.",
                   breakpoint_samples);

}  // namespace
}  // namespace bitale
