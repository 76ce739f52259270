// Expressions and elements of memory, as operations.
#include <algorithm>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/runtime/functions.hpp"
#include "codegen/interpreted/builder.hpp"
#include "program/hoisted_load.hpp"
#include "program/index_runs.hpp"
#include "program/substitute.hpp"

namespace bitale::codegen::interpreted {

using program::Code;
using program::Expr;
using program::kernels::Special;

namespace {
constexpr std::size_t most_arguments = 4;  // of pure functions
}

Register Builder::numbered(Register r) const {
  const Register kind = r & tag_bits, number = r & ~tag_bits;
  if (kind == 0) return number;
  const auto scalars = Register(parts_.constants.size()), chunks = scalars + Register(parts_.scalars);
  if (kind == is_scalar) return scalars + number;
  return number & is_view ? chunks + Register(parts_.chunks) + (number & ~is_view) : chunks + number;
}

void Builder::copy(Register to, DType dtype, Value from) {
  add({.kind = Kind::kernel, .out = to, .a = from.at, .address = special(Special::copy, dtype)});
}

Register Builder::in_lanes(Value v, DType dtype) {
  if (v.in_lanes) return v.at;
  const Register out = new_chunk(dtype);
  add({.kind = Kind::kernel, .in_lanes = true, .out = out, .a = v.at, .address = special(Special::splat, dtype)});
  return out;
}

// ---- expressions --------------------------------------------------------------------------------------------------
std::size_t Builder::level_for(Expr expr) {
  return nest_.level_of(expr, [&](std::size_t level) { return levels_[level].values.contains(expr.id()); });
}

std::optional<Builder::Value> Builder::known(Expr expr) {
  if (expr.is_constant()) return constant(expr.payload());
  if (expr.code() == Code::var) {
    const auto found = vars_.find(expr.payload());
    if (found == vars_.end()) throw InternalError(cat("codegen: the variable v", expr.payload(), " has no value"));
    return found->second;
  }
  const auto& values = levels_[level_for(expr)].values;
  const auto found = values.find(expr.id());
  return found == values.end() ? std::nullopt : std::optional(found->second);
}

Expr Builder::inlined(Expr call, const program::Function& function) {
  Expr& body = inlined_[call.id()];
  if (body.defined()) return body;
  program::Substitution arguments;
  for (std::size_t k = 0; k < function.parameters.size(); ++k)
    arguments[function.parameters[k].id()] = call.argument(k);
  return body = program::substitute(function.body, arguments);
}

Builder::Value Builder::value(Expr root) {
  std::vector<Expr> stack{root};
  while (!stack.empty()) {
    const Expr expr = stack.back();
    if (known(expr)) {
      stack.pop_back();
      continue;
    }
    const std::size_t before = stack.size();
    const auto* function = program_.function_of(expr);
    if (function) {
      const Expr body = inlined(expr, *function);
      if (!known(body)) stack.push_back(body);
    } else if (expr.code() != Code::load) {  // a load evaluates its indices itself
      const std::size_t count = expr.code() == Code::lookup ? 1 : expr.argument_count();
      for (std::size_t i = count; i-- > 0;)
        if (!known(expr.argument(i))) stack.push_back(expr.argument(i));
    }
    if (stack.size() != before) continue;
    stack.pop_back();
    const std::size_t at = level_for(expr);
    const Value made = function ? *known(inlined(expr, *function)) : build(expr, at);
    levels_[at].values[expr.id()] = made;
    kept_.keep(expr);
  }
  return *known(root);
}

Builder::Value Builder::build(Expr expr, std::size_t at) {
  const DType dtype = expr.dtype();
  switch (expr.code()) {
    case Code::index: return index(expr);
    case Code::dim: {
      const Register out = new_scalar();
      add(at, {.kind = Kind::length,
               .out = out,
               .number = offsets_[std::size_t(expr.payload() >> 8)] + (expr.payload() & 0xff)});
      return {out};
    }
    case Code::load: return load(expr, at);
    case Code::bitcast:
      if (expr.argument(0).dtype() != DType::Bool && dtype != DType::Bool) return *known(expr.argument(0));
      return kernel(Code::cast, dtype, expr, at);
    case Code::lookup: return lookup(expr, at);
    case Code::call:
    case Code::rare_call: return call(expr, at);
    default: return kernel(expr.code(), dtype, expr, at);
  }
}

Builder::Value Builder::index(Expr expr) {
  if (!lanes_ || !(lanes_->index == expr)) throw InternalError("codegen: an index outside of its loop");
  const Register out = new_chunk(DType::Int64);
  add({.kind = Kind::kernel,
       .in_lanes = true,
       .out = out,
       .a = start_,
       .address = special(Special::iota, DType::Int64)});
  return {out, true};
}

Builder::Value Builder::kernel(Code code, DType dtype, Expr expr, std::size_t at) {
  Value arguments[3] = {};
  const std::size_t count = expr.argument_count();
  if (count > 3) throw Unsupported();
  bool lanes = false;
  int uniform = 0;
  for (std::size_t k = 0; k < count; ++k) {
    arguments[k] = *known(expr.argument(k));
    lanes |= arguments[k].in_lanes;
  }
  for (std::size_t k = 0; k < count; ++k) uniform |= arguments[k].in_lanes ? 0 : 1 << k;
  const DType in = expr.argument(code == Code::select ? 1 : 0).dtype();
  Kernel found = kernels_.operation(code, dtype, in, uniform);
  if (!found && lanes) {  // some kernels are there for lanes only
    for (std::size_t k = 0; k < count; ++k) arguments[k] = {in_lanes(arguments[k], expr.argument(k).dtype()), true};
    found = kernels_.operation(code, dtype, in, 0);
  }
  const Register out = lanes ? new_chunk(dtype) : new_scalar();
  add(at, {.kind = Kind::kernel,
           .in_lanes = lanes,
           .shift = shift_of(dtype),
           .out = out,
           .a = arguments[0].at,
           .b = arguments[1].at,
           .c = arguments[2].at,
           .address = required(found),
           .number = code == Code::fma && lanes && is_float(dtype) ? uniform + 1 : 0});
  return {out, lanes};
}

Builder::Value Builder::lookup(Expr expr, std::size_t at) {
  const DType dtype = expr.dtype();
  const Value which = *known(expr.argument(0));
  const std::size_t size = expr.argument_count() - 1;
  std::vector<std::int64_t> elements;
  for (std::size_t k = 0; k < size; ++k) elements.push_back(expr.argument(k + 1).payload());
  const Register out = which.in_lanes ? new_chunk(dtype) : new_scalar();
  add(at, {.kind = Kind::kernel,
           .in_lanes = which.in_lanes,
           .out = out,
           .a = which.at,
           .b = table(elements, itemsize(dtype)),
           .c = constant(std::int64_t(size) - 1).at,
           .address = special(Special::lookup, dtype)});
  return {out, which.in_lanes};
}

Builder::Value Builder::call(Expr expr, std::size_t at) {
  const DType dtype = expr.dtype();
  const bool is_rare = expr.code() == Code::rare_call;
  const std::string& name = pool_.function_name(expr.payload());
  const std::size_t first = is_rare ? 2 : 0, count = expr.argument_count();
  const bool has_type =
      dtype == DType::Float64 || dtype == DType::Float32 || dtype == DType::Int64 || dtype == DType::UInt64;
  bool is_like_others = has_type && count - first <= most_arguments && count > first;
  for (std::size_t k = first; k < count; ++k) is_like_others &= expr.argument(k).dtype() == dtype;
  void* const address = runtime::find_symbol(name);
  if (!is_like_others || !address) throw Unsupported();
  std::vector<Register> arguments;
  bool lanes = false;
  for (std::size_t k = 0; k < count; ++k) lanes |= known(expr.argument(k))->in_lanes;
  for (std::size_t k = 0; k < count; ++k) {
    const Value v = *known(expr.argument(k));
    arguments.push_back(lanes ? in_lanes(v, expr.argument(k).dtype()) : v.at);
  }
  const Register out = lanes ? new_chunk(dtype) : new_scalar();
  add(at, {.kind = is_rare ? Kind::rare_call : Kind::call,
           .in_lanes = lanes,
           .list_size = std::uint16_t(count),
           .list = list(arguments),
           .out = out,
           .address = address,
           .number = std::int64_t(dtype)});
  return {out, lanes};
}

// How the offset changes from one iteration to the next, if that is the same for all.
std::optional<Expr> Builder::stride_of(Expr expr) {
  if (nest_.level_of(expr) + 1 < levels_.size()) return pool_.integer(0);
  if (expr == lanes_->index) return pool_.integer(1);
  if (const auto found = strides_.find(expr.id()); found != strides_.end()) return found->second;
  std::optional<Expr> out;
  const Code code = expr.code();
  if (code == Code::add || code == Code::sub || code == Code::mul) {
    const auto a = stride_of(expr.argument(0)), b = stride_of(expr.argument(1));
    if (a && b && code == Code::add) out = *a + *b;
    if (a && b && code == Code::sub) out = *a - *b;
    if (a && b && code == Code::mul && a->is_constant(0)) out = expr.argument(0) * *b;
    if (a && b && code == Code::mul && b->is_constant(0)) out = *a * expr.argument(1);
  }
  if (code == Code::neg)
    if (const auto a = stride_of(expr.argument(0))) out = -*a;
  strides_[expr.id()] = out;
  return out;
}

Builder::Place Builder::place(std::int64_t id, std::span<const Expr> at, bool lanes) {
  const Expr offset = at.empty() ? pool_.integer(0) : program::offset_of(program_, id, at);
  if (!lanes) return {value(offset), {}};
  if (const auto stride = stride_of(offset); stride && !stride->is_constant(0)) {
    const Expr base = program::substitute(offset, {{lanes_->index.id(), pool_.integer(0)}});
    const Value start = value(base), by = value(*stride);
    if (!start.in_lanes && !by.in_lanes) {
      if (stride->is_constant(1)) return {start, {}, true, true};
      const Expr here = base + start_index_ * *stride;  // of the chunk's first iteration
      return {value(here), by, false, true};
    }
  }
  const Value offsets = value(offset);
  return {offsets, {}, false, offsets.in_lanes};
}

Builder::Value Builder::load(Expr expr, std::size_t level) {
  const std::int64_t id = expr.payload();
  const DType dtype = expr.dtype();
  const std::vector<Expr> at = program::arguments_of(expr);
  const bool is_hoisted = level + 1 < levels_.size();
  const Place from = place(id, at, is_in_lanes(level));
  Op op{.kind = Kind::load,
        .in_lanes = from.in_lanes,
        .shift = shift_of(dtype),
        .buffer = std::int32_t(id),
        .a = from.start.at,
        .address = special(Special::copy, dtype)};
  if (from.in_lanes) {
    op.out = new_chunk(dtype);
    if (from.is_adjacent) {
      op.c = start_;
    } else if (from.stride) {
      op.kind = Kind::load_strided;
      op.b = from.stride->at;
      op.address = special(Special::load_strided, dtype);
    } else {
      op.kind = Kind::gather;
      op.address = special(Special::gather, dtype);
    }
  } else {
    op.out = new_scalar();
    std::vector<Register> pairs;
    if (is_hoisted)
      for (auto [index, length] : program::bounds_of_hoisted_load(program_, id, at)) {
        pairs.push_back(value(index).at);
        pairs.push_back(value(length).at);
      }
    if (!pairs.empty()) {
      op.kind = Kind::guarded_load;
      op.list = list(pairs);
      op.list_size = std::uint16_t(pairs.size());
    }
  }
  add(level, op);
  return {op.out, from.in_lanes};
}
}  // namespace bitale::codegen::interpreted
