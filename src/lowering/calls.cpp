// Calls of runtime functions: a single call, or one for each index of a batch in a loop. The function's row in the
// table declares what happens to each argument, and the message of a status that is not 0.
#include <algorithm>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/runtime/functions.hpp"
#include "lowering/definitions.hpp"

namespace bitale::lowering {

namespace {

using runtime::ParameterKind;

program::AccessKind access_kind(ParameterKind kind) {
  if (kind == ParameterKind::in) return program::AccessKind::read;
  return kind == ParameterKind::in_out ? program::AccessKind::combine : program::AccessKind::write;
}

bool is_argument_for(const CallArgument& argument, ParameterKind kind) {
  if (std::holds_alternative<Expr>(argument)) return kind == ParameterKind::scalar;
  if (std::holds_alternative<InputData>(argument)) return kind == ParameterKind::in;
  if (std::holds_alternative<Scratch>(argument)) return kind == ParameterKind::scratch;
  const auto& output = std::get<OutputData>(argument);
  return kind == (output.starts_as ? ParameterKind::in_out : ParameterKind::out);
}

void require_fit(const runtime::RuntimeFunction& function, const std::vector<CallArgument>& arguments) {
  bool good = arguments.size() == function.parameters.size();
  for (std::size_t i = 0; good && i < arguments.size(); ++i)
    good = is_argument_for(arguments[i], function.parameters[i].kind);
  if (!good) throw InternalError(cat("lowering: ", function.name, " is called with arguments that it does not take"));
}

bool has_elements_of(const Variable& a, const Variable& b) {
  return a.storage().dtype == b.storage().dtype && a.storage().shape == b.storage().shape;
}

}  // namespace

// The variable that has the same elements in memory before views: dimensions of length 1 that a view inserts or drops
// make no difference there.
Variable Definitions::same_memory(Variable variable) {
  for (;;) {
    const Value& value = value_of(variable);
    if (!value.permuted_from.defined() || value.permuted_from.ndim() == 0) return variable;
    int last = -1;
    for (const int axis : value.order) {
      if (axis >= 0 && axis < last) return variable;
      last = std::max(last, axis);
    }
    variable = value.permuted_from;
  }
}

void Definitions::call_each(std::string_view name, std::vector<Expr> extents, CallRule rule) {
  const runtime::RuntimeFunction& function = runtime::function_named(name);
  auto& sources = matrix_sources_[node_];
  std::vector<std::pair<Variable, Variable>> copies;  // an input, and the output that is initialized with it
  const std::vector<Expr> first(extents.size(), pool().integer(0));
  const std::vector<CallArgument> arguments = rule(first);
  require_fit(function, arguments);
  for (auto& argument : arguments) {
    if (auto* data = std::get_if<InputData>(&argument))
      want(sources.try_emplace(data->input, same_memory(node_->inputs[std::size_t(data->input)])).first->second);
    if (auto* data = std::get_if<OutputData>(&argument)) {
      const Variable variable = Variable::of(&node_->outputs[std::size_t(data->output)]);
      std::optional<std::int64_t> inherited;
      if (data->starts_as) {
        const Variable& source = node_->inputs[std::size_t(*data->starts_as)];
        if (has_elements_of(source, variable)) inherited = reuse_buffer(source, variable);
        if (!inherited) copies.emplace_back(source, variable);
      }
      const std::int64_t buffer = inherited ? *inherited : result_buffer(variable);
      values_[variable.node()].buffer = buffer;
    }
  }
  const bool may_fail = function.result == runtime::Result::status;
  const int check = may_fail ? new_check(std::string(function.failure)) : -1;
  builders_[node_].push_back([this, &function, node = node_, extents = std::move(extents), rule = std::move(rule),
                              copies = std::move(copies), may_fail, check] {
    for (auto& [source, copy] : copies) add_repeated_copy(source, copy);
    Opaque opaque;
    std::vector<Expr> index;
    const std::vector<Expr> domain = equal_lengths.canonical(extents);
    for (auto& extent : domain) index.push_back(extent.is_constant(1) ? pool().integer(0) : declare.index("n", extent));
    program::Call call{std::string(function.name), {}, {}};
    const std::vector<CallArgument> given = rule(index);
    for (std::size_t i = 0; i < given.size(); ++i) {
      const program::AccessKind kind = access_kind(function.parameters[i].kind);
      if (auto* expr = std::get_if<Expr>(&given[i])) {
        call.arguments.push_back(equal_lengths.fixed(*expr));
        continue;
      }
      std::int64_t buffer = -1;
      Expr offset;
      if (auto* in = std::get_if<InputData>(&given[i])) {
        buffer = in_memory(matrix_sources_[node][in->input]);
        offset = in->offset;
      } else if (auto* out = std::get_if<OutputData>(&given[i])) {
        buffer = values_[&node->outputs[std::size_t(out->output)]].buffer;
        offset = out->offset;
      } else {
        const auto& scratch = std::get<Scratch>(given[i]);
        program::Buffer memory;
        memory.name = cat("scratch", program.buffers.size());
        memory.dtype = scratch.dtype;
        memory.shape = {equal_lengths.fixed(scratch.count)};
        buffer = declare.buffer(std::move(memory));
      }
      if (kind != program::AccessKind::write) opaque.reads.push_back(buffer);
      if (kind != program::AccessKind::read) opaque.writes.push_back(buffer);
      if (offset.defined()) offset = equal_lengths.fixed(offset);
      if (offset.defined() && offset.is_constant(0)) offset = {};
      call.arguments.push_back(program::BufferArgument{buffer, kind, offset});
    }
    if (may_fail) call.status = declare.var(DType::Int64);
    const Expr status = call.status;
    const bool repeats = std::any_of(domain.begin(), domain.end(), [](Expr extent) { return !extent.is_constant(1); });
    program::Steps body{{std::move(call)}};
    const Expr fine = may_fail ? equal(status, pool().integer(0)) : Expr();
    if (may_fail && repeats) {
      computations.checks[std::size_t(check)].computation = int(computations.list.size());
      body.push_back({program::Check{fine, check}});
    } else if (may_fail) {
      opaque.vars = {status};
    }
    for (std::size_t k = domain.size(); k-- > 0;) {
      if (domain[k].is_constant(1)) continue;
      program::Steps inner{{program::Loop{index[k], domain[k], {}, std::move(body)}}};
      body = std::move(inner);
    }
    opaque.step = std::move(body.front());
    add_step(std::move(opaque));
    if (may_fail && !repeats) make_check(fine, check);
  });
}

// Initializes the output's buffer with the input, broadcast along axes where the input has length 1.
void Definitions::add_repeated_copy(const Variable& source, const Variable& copy) {
  const Value& value = values_[copy.node()];
  std::vector<bool> is_one;
  for (int axis = 0; axis < source.storage().ndim(); ++axis)
    is_one.push_back(source.storage().shape[std::size_t(axis)] == 1);
  add_computation(
      Stored{{.domain = value.shape, .buffer = value.buffer}},
      [&](Index at) {
        std::vector<Expr> index = own_index(at);
        for (std::size_t axis = 0; axis < index.size(); ++axis)
          if (is_one[axis]) index[axis] = pool().integer(0);
        return read(source, index);
      },
      own_index);
}

}  // namespace bitale::lowering
