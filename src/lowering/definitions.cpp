// Definition: every op declares its outputs; their lengths become int64 expressions.
#include "lowering/definitions.hpp"
#include "lowering/costs.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "bitale/core/error.hpp"
#include "bitale/core/interruption.hpp"
#include "bitale/core/text.hpp"

namespace bitale::lowering {

std::size_t Definitions::MemoHash::operator()(const MemoKey& key) const {
  std::size_t hash = std::hash<const void*>{}(key.variable);
  for (auto id : key.at) hash = hash * 1000003 + id;
  return hash;
}

namespace {

// In a Program, a complex tensor is an array of pairs, with an additional last axis of length 2.
void add_pair_axis(ExprPool& pool, const Variable& variable, std::vector<Expr>& shape) {
  if (is_complex(variable)) shape.push_back(pool.integer(2));
}

}  // namespace

void Definitions::define_all() {
  for (std::size_t i = 0; i < graph_.outputs().size(); ++i) output_slots_[graph_.outputs()[i].node()].push_back(int(i));
  for (std::size_t i = 0; i < graph_.inputs().size(); ++i) define_input(graph_.inputs()[i], int(i));
  nodes_ = graph_.toposort();
  for (auto& node : nodes_) {
    throw_if_interrupted();
    define(node);
  }
}

// ---- leaves ---------------------------------------------------------------------------------------------------------

void Definitions::define_input(const Variable& variable, int slot) {
  Value& value = values_[variable.node()];
  const auto buffer = std::int64_t(program.buffers.size());
  for (int axis = 0; axis < variable.storage().ndim(); ++axis) {
    const std::int64_t length = variable.storage().shape[std::size_t(axis)];
    if (length != unknown_length)
      value.shape.push_back(pool().integer(length));
    else
      value.shape.push_back(outer_ ? input_shapes_[std::size_t(slot)][std::size_t(axis)] : pool().dim(buffer, axis));
  }
  add_pair_axis(pool(), variable, value.shape);
  value.buffer = add_buffer(variable, program::Role::input);
  program.buffers.back().slot = slot;
  if (!layouts_.empty() && layouts_[std::size_t(slot)]) {
    value.buffer = -1;  // not C-contiguous: readers that need it so make a copy
    define_strided(variable, *layouts_[std::size_t(slot)], buffer);
  }
}

void Definitions::define_strided(const Variable& variable, const InputLayout& layout, std::int64_t buffer) {
  const int rank = variable.storage().ndim();
  const int strides = layout.order.empty() ? 0 : int(layout.order.size()) + !layout.unit;
  auto& lengths = program.buffers[std::size_t(buffer)].shape;
  for (int axis = rank; axis < rank + strides; ++axis) lengths.push_back(pool().dim(buffer, axis));
  Value& value = values_[variable.node()];
  value.rule = [this, layout, rank, buffer, shape = value.shape, dtype = variable.storage().dtype](Index at) {
    std::vector<Expr> indices(std::size_t(rank), pool().integer(0));
    for (auto& [axis, reversed] : layout.order) {
      const Expr index = at[std::size_t(axis)];
      indices.push_back(reversed ? shape[std::size_t(axis)] - 1 - index : index);
    }
    if (!layout.unit) indices.push_back(pool().integer(0));
    return pool().load(buffer, dtype, indices);
  };
}

namespace {

// Whether all elements are equal bit for bit: the array is then a scalar, whatever its shape.
bool is_uniform(const Array& array) {
  const auto size = array.size();
  if (size == 0) return false;
  const auto* bytes = static_cast<const char*>(array.data());
  const std::size_t width = itemsize(array.dtype());
  for (std::int64_t i = 1; i < size; ++i)
    if (std::memcmp(bytes, bytes + std::size_t(i) * width, width) != 0) return false;
  return true;
}

Expr constant_expr(ExprPool& pool, const Array& array) {
  const Dims origin(std::size_t(array.ndim()), 0);
  if (is_float(array.dtype())) return pool.number(array.at(origin), array.dtype());
  return visit_dtype(array.dtype(), [&]<class T>() {
    return pool.integer(std::int64_t(*static_cast<const T*>(array.data())), array.dtype());
  });
}

}  // namespace

void Definitions::define_constant(const Variable& variable, Value& value) {
  const Array& given = *variable.constant();
  const Array array = (is_complex(variable) ? given.as_pairs() : given).contiguous();
  for (auto length : array.shape()) value.shape.push_back(pool().integer(length));
  if (!array.object() && is_uniform(array)) {  // object addresses are not part of the code
    value.scalar = constant_expr(pool(), array);
    return;
  }
  value.buffer = add_buffer(variable, program::Role::constant);
  program.buffers.back().shape = value.shape;
  program.buffers.back().value = array;
}

Value& Definitions::value_of(const Variable& variable) {
  if (Value* known = values_.find(variable.node())) return *known;
  if (!variable.is_constant()) throw InternalError(cat("lowering: ", variable.str(), " is used before it is defined"));
  kept_leaves_.push_back(variable);
  Value& value = values_[variable.node()];
  define_constant(variable, value);
  return value;
}

std::int64_t Definitions::add_buffer(const Variable& variable, program::Role role) {
  program::Buffer buffer;
  const auto id = std::int64_t(program.buffers.size());
  buffer.name = variable.name().empty() ? cat(role == program::Role::input ? "in" : "b", id) : variable.name();
  buffer.dtype = component_dtype(variable.storage().dtype);
  buffer.role = role;
  if (const Value* value = values_.find(variable.node())) buffer.shape = value->shape;
  return declare.buffer(std::move(buffer));
}

std::int64_t Definitions::result_buffer(const Variable& variable) {
  const auto slot = take_output_slot(variable);
  const auto id = add_buffer(variable, slot ? program::Role::output : program::Role::temporary);
  if (slot) program.buffers.back().slot = *slot;
  return id;
}

std::optional<int> Definitions::take_output_slot(const Variable& variable) {
  auto found = output_slots_.find(variable.node());
  if (found == output_slots_.end() || found->second.empty()) return {};
  const int slot = found->second.front();
  found->second.erase(found->second.begin());
  return slot;
}

// ---- lengths --------------------------------------------------------------------------------------------------------

Variables Definitions::shape_variables(const Variable& variable) {
  static const Type length_type = tensor_type(DType::Int64, 0);
  Variables out;
  const std::span<const Expr> lengths = value_of(variable).shape;
  for (auto& length : lengths.first(std::size_t(variable.storage().ndim()))) {
    Variable& known = length_variables_[length.id()];
    if (!known.defined()) {
      known = length.is_constant() ? constant(Array(length.payload())) : Variable(length_type);
      values_[known.node()].scalar = length;
    }
    out.push_back(known);
  }
  return out;
}

Expr Definitions::scalar_of(const Variable& variable) {
  const auto is_known = [&](const Variable& v) { return values_.find(v.node()) != nullptr; };
  if (variable.has_owner() && !is_known(variable)) {
    // Visits only nodes whose outputs have no value yet.
    std::vector<Apply> stack{variable.owner()};
    while (!stack.empty()) {
      const Apply node = stack.back();
      if (is_known(node.output())) {
        stack.pop_back();
        continue;
      }
      const std::size_t before = stack.size();
      for (auto& input : node.inputs())
        if (input.has_owner() && !is_known(input)) stack.push_back(input.owner());
      if (stack.size() != before) continue;
      kept_.push_back(node);
      define(node);
      stack.pop_back();
    }
  }
  return program::cast(read(variable, {}), DType::Int64);
}

bool Definitions::infer_shapes(const Apply& node) {
  std::vector<Shape> inferred;
  for (std::size_t k = 0; k < node.output_count(); ++k) {
    const Variable output = node.output(int(k));
    const Dims& known = output.storage().shape;
    std::vector<Expr> lengths;
    for (std::size_t axis = 0; axis < known.size(); ++axis) {
      if (known[axis] != unknown_length) {
        lengths.push_back(pool().integer(known[axis]));
        continue;
      }
      if (inferred.empty()) {
        std::vector<Shape> inputs;
        for (auto& input : node.inputs()) inputs.push_back(shape_variables(input));
        inferred = node.op().infer_shape(node, inputs);
        if (inferred.empty()) return false;
      }
      lengths.push_back(equal_lengths.canonical(scalar_of(inferred[k][axis])));
    }
    add_pair_axis(pool(), output, lengths);
    values_[output.node()].shape = std::move(lengths);
  }
  return true;
}

// At the entry of an inner graph, everything that the outer graph has declared is known.
bool Definitions::known_at_entry(Expr root) const {
  using program::Code, program::Role;
  const auto is_made_here = [&](std::int64_t buffer, bool may_be_constant) {
    if (buffer < before_.buffers) return false;
    const Role role = program.buffers[std::size_t(buffer)].role;
    return role != Role::input && !(may_be_constant && role == Role::constant);
  };
  return !program::any_within(root, [&](Expr expr) {
    switch (expr.code()) {
      case Code::dim: return is_made_here(expr.payload() >> 8, false);
      case Code::load: return is_made_here(expr.payload(), true);
      case Code::index: return expr.payload() >= before_.indices;
      case Code::var: return expr.payload() >= before_.vars;
      default: return false;
    }
  });
}

// ---- definitions by ops ---------------------------------------------------------------------------------------------

void Definitions::define(const Apply& node) {
  NodeScope scope(*this, node.node());
  const bool shapes_known = infer_shapes(node);
  const bool on_host = node.op().complex_form() != ComplexForm::memory && touches_complex(node);
  if (on_host || !shapes_known || !node.op().emit(*this, node)) define_host_call(node);
  definition_order_.push_back(node.node());
}

Expr Definitions::in(int input, Index at) {
  return parameters_.empty() ? read(node_->inputs[std::size_t(input)], at) : parameters_[std::size_t(input)];
}
std::span<const Expr> Definitions::shape_in(int input) { return value_of(node_->inputs[std::size_t(input)]).shape; }
std::span<const Expr> Definitions::shape_out(int output) { return values_[&node_->outputs[std::size_t(output)]].shape; }

ElementRule Definitions::bound(ElementRule rule) {
  return [this, node = node_, rule = std::move(rule)](Index at) {
    NodeScope scope(*this, node);
    return rule(at);
  };
}

void Definitions::element(int output, ElementRule rule, int cost) {
  Value& value = values_[&node_->outputs[std::size_t(output)]];
  value.rule = bound(std::move(rule));
  value.own_cost = cost;
  if (cost >= costs::choose::materialize && node_->op->elementwise()) ++expensive_calls_[node_->op->kind()];
}

void Definitions::permute(int output, int input, std::span<const int> order) {
  Value& value = values_[&node_->outputs[std::size_t(output)]];
  value.permuted_from = node_->inputs[std::size_t(input)];
  value.order.assign(order.begin(), order.end());
  value.own_cost = 0;
  const int input_ndim = value.permuted_from.ndim();
  value.rule = bound([this, input, input_ndim, order = value.order](Index at) {
    std::vector<Expr> source(std::size_t(input_ndim), pool().integer(0));
    for (std::size_t k = 0; k < order.size(); ++k)
      if (order[k] >= 0) source[std::size_t(order[k])] = at[k];
    return in(input, source);
  });
}

// The buffer of `base`, if the node that computes `result` is its only client: its elements may be overwritten.
std::optional<std::int64_t> Definitions::reuse_buffer(const Variable& base, const Variable& result) {
  const Value& value = value_of(base);
  if (value.buffer < 0 || value.host_allocates || value.reread || base.is_constant() ||
      graph_.clients(base).size() != 1)
    return {};
  program::Buffer& buffer = program.buffers[std::size_t(value.buffer)];
  if (buffer.role != program::Role::temporary) return {};
  if (auto slot = take_output_slot(result)) {
    buffer.role = program::Role::output;
    buffer.slot = *slot;
  }
  return value.buffer;
}

void Definitions::assemble(int output, std::optional<int> base, std::vector<Piece> pieces) {
  const Variable variable = Variable::of(&node_->outputs[std::size_t(output)]);
  const auto inherited = base ? reuse_buffer(node_->inputs[std::size_t(*base)], variable) : std::nullopt;
  if (inherited) base.reset();
  const std::int64_t buffer = values_[variable.node()].buffer = inherited ? *inherited : result_buffer(variable);
  for (auto& piece : pieces) {
    piece.value = bound(std::move(piece.value));
    if (piece.computed_extent.rule) piece.computed_extent.rule = bound(std::move(piece.computed_extent.rule));
    piece.target = [this, node = node_, target = std::move(piece.target)](Index at) {
      NodeScope scope(*this, node);
      return target(at);
    };
  }
  std::optional<Variable> source;
  if (base) source = node_->inputs[std::size_t(*base)];
  builders_[node_].push_back([this, buffer, source, pieces = std::move(pieces)]() mutable {
    if (source) add_copy(*source, buffer);
    for (auto& piece : pieces) {
      compute_extent(piece.computed_extent, piece.domain);
      add_computation(Stored{{.domain = piece.domain, .buffer = buffer}, piece.combiner}, piece.value, piece.target);
    }
  });
}

void Definitions::want(const Variable& variable) { value_of(variable).wanted = true; }

MatrixLayout Definitions::matrix(int input) {
  const Variable& variable = node_->inputs[std::size_t(input)];
  const Value& value = value_of(variable);
  const bool transposed = value.permuted_from.defined() && value.order == std::vector<int>{1, 0};
  const Variable source = transposed ? value.permuted_from : variable;
  want(source);
  matrix_sources_[node_][input] = source;
  return {transposed};
}

bool Definitions::is_computed(int input) {
  const Variable& variable = node_->inputs[std::size_t(input)];
  const Value& value = value_of(variable);
  return value.rule && value.buffer < 0 && !value.permuted_from.defined() && graph_.clients(variable).size() == 1;
}

void Definitions::observe() {
  const Apply node = Apply::of(node_);
  for (auto& input : node.inputs()) want(input);
  add_host_call(node, {});
}

void Definitions::define_host_call(const Apply& node) {
  for (auto& input : node.inputs()) want(input);
  for (std::size_t k = 0; k < node.output_count(); ++k) {
    const Variable output = node.output(int(k));
    Value& value = values_[output.node()];
    // The host determines the lengths: they are known after the call, whatever infer_shape returns.
    value.shape.clear();
    const std::int64_t buffer = result_buffer(output);
    for (int axis = 0; axis < output.storage().ndim(); ++axis) {
      const std::int64_t length = output.storage().shape[std::size_t(axis)];
      value.shape.push_back(length == unknown_length ? pool().dim(buffer, axis) : pool().integer(length));
    }
    add_pair_axis(pool(), output, value.shape);
    program.buffers[std::size_t(buffer)].shape = value.shape;
    value.buffer = buffer;
    value.host_allocates = true;
  }
  std::vector<std::int64_t> outputs;
  for (auto& output : node.outputs()) outputs.push_back(values_[output.node()].buffer);
  add_host_call(node, std::move(outputs));
}

void Definitions::add_host_call(const Apply& node, std::vector<std::int64_t> outputs) {
  const int callback = int(callbacks.size());
  callbacks.push_back(node);
  program.callbacks.push_back(node.op().label());
  builders_[node_].push_back([this, node, callback, outputs = std::move(outputs)] {
    std::vector<std::int64_t> inputs;
    for (auto& input : node.inputs()) inputs.push_back(in_memory(input));
    add_step({{program::HostCall{callback, inputs, outputs}}, inputs, outputs});
  });
}

}  // namespace bitale::lowering
