#include "ops/control/check_and_raise.hpp"

#include <algorithm>
#include <numeric>

#include "bitale/ops/debugging.hpp"
#include "bitale/ops/linalg.hpp"
#include "bitale/ops/lowering.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/ops/registry.hpp"
#include "graph/dependencies.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/sample_values.hpp"

namespace bitale {
namespace {

struct ErrorClass {
  std::string_view name;
  void (*raise)(std::string message);
};

template <class E>
[[noreturn]] void raise_as(std::string message) {
  throw E(std::move(message));
}

constexpr ErrorClass error_classes[] = {
    {"AssertionError", raise_as<AssertionError>},
    {"AttributeError", raise_as<AttributeError>},
    {"IndexError", raise_as<IndexError>},
    {"KeyError", raise_as<KeyError>},
    {"LinAlgError", raise_as<LinAlgError>},
    {"MemoryError", raise_as<OutOfMemoryError>},
    {"NotImplementedError", raise_as<NotImplementedError>},
    {"OutOfMemoryError", raise_as<OutOfMemoryError>},
    {"ShapeError", raise_as<ShapeError>},
    {"TypeError", raise_as<TypeError>},
    {"ValueError", raise_as<ValueError>},
};

// The message, truncated if it is long.
std::string short_text(const std::string& text) {
  constexpr std::size_t longest = 30;
  return text.size() <= longest ? text : text.substr(0, longest - 3) + "...";
}

Variable as_condition(const Variable& condition) {
  if (condition.ndim() != 0) {
    TypeError error(cat("CheckAndRaise: expected a scalar condition, got `", condition.str(), "` of ", condition.ndim(),
                        " dimensions"));
    error.add("hint", "all(condition)");
    throw error;
  }
  return condition.dtype() == DType::Bool ? condition : neq(condition, 0);
}

}  // namespace

std::string CheckAndRaise::label() const {
  if (is_assert()) return cat("Assert{msg=", msg, "}");
  return cat("CheckAndRaise{", exc_type.substr(exc_type.rfind(':') + 1), "(", short_text(msg), ")}");
}

std::string CheckAndRaise::check_text() const {
  return msg.empty() ? cat(exc_type, ": a condition does not hold") : msg;
}

void CheckAndRaise::raise() const {
  for (auto& known : error_classes)
    if (known.name == exc_type) known.raise(msg);
  throw RaisedError(exc_type, msg);
}

Apply CheckAndRaise::make_node(std::span<const Variable> inputs) const {
  if (inputs.empty()) throw TypeError("CheckAndRaise: expected a value and conditions, got nothing");
  Variables own{inputs[0]};
  for (auto& condition : inputs.subspan(1)) own.push_back(as_condition(condition));
  return Apply(OpRef(this), own, {tensor_type(inputs[0].dtype(), inputs[0].static_shape())});
}

std::vector<Shape> CheckAndRaise::infer_shape(const Apply&, std::span<const Shape> inputs) const { return {inputs[0]}; }

void CheckAndRaise::perform(const Apply&, std::span<const Array> in, std::span<Array> out) const {
  for (auto& condition : in.subspan(1))
    if (!condition.int_item()) raise();
  out[0] = in[0];
}

bool CheckAndRaise::emit(Lowering& to, const Apply& node) const {
  for (int k = 1; k < int(node.inputs().size()); ++k) to.expect(to.in(k), check_text());
  std::vector<int> order(std::size_t(node.output().ndim()));
  std::iota(order.begin(), order.end(), 0);
  to.permute(0, 0, order);
  return true;
}

void CheckAndRaise::emit_tensors(TensorLowering& to, const Apply& node) const {
  for (int k = 1; k < int(node.inputs().size()); ++k)
    to.require(to.builder().convert(to.in(k), DType::Bool), check_text());
  to.out(0, to.in(0));
}

Variables CheckAndRaise::pullback(const Apply& node, std::span<const Variable> cotangents) const {
  Variables out = no_gradients(node);
  out[0] = cotangents[0];
  return out;
}

Variables CheckAndRaise::pushforward(const Apply&, std::span<const Variable> tangents) const { return {tangents[0]}; }

std::optional<Array> CheckAndRaise::dependencies(const Apply&, int, InputDependencies& inputs) const {
  return inputs.of(0);
}

std::vector<std::vector<bool>> CheckAndRaise::connection_pattern(const Apply& node) const {
  return connect_first(node, 1);
}

Apply CheckAndRaise::vectorize_along(const Batch& batch) const {
  Variables inputs{with_batch(batch, 0)};
  for (auto& condition : batch.inputs.subspan(1)) inputs.push_back(condition.ndim() == 0 ? condition : all(condition));
  return make_node(inputs);
}

std::vector<int> CheckAndRaise::view_of(const Apply&, int) const { return {0}; }

Variable checked_length(const Variable& scalar, std::string_view who) {
  const Variable length = as_length(scalar, who);
  if (const auto known = known_integer(length); known && *known < 0)
    throw ValueError(cat(who, ": expected a number of at least 0, got ", *known));
  if (is_never_negative(length)) return length;
  return check_and_raise(length, {ge(length, int64_constant(0))}, "ValueError",
                         cat(who, ": expected a number of at least 0, got a negative one"));
}

Variable check_and_raise(const Operand& x, const std::vector<Operand>& conditions, std::string exc_type,
                         std::string message) {
  LocationScope here(x.where);
  Variables inputs{x.variable};
  for (auto& condition : conditions) inputs.push_back(condition.variable);
  return (*make_ref<CheckAndRaise>(std::move(exc_type), std::move(message)))(inputs);
}

Variable assert_op(const Operand& x, const std::vector<Operand>& conditions, std::string message) {
  return check_and_raise(x, conditions, "AssertionError", std::move(message));
}

namespace {

std::vector<Sample> check_and_raise_samples() {
  constexpr auto any = unknown_length;
  auto x = sample_input(DType::Float64, {any, any}), v = sample_input(DType::Int16, {any});
  auto s = sample_input(DType::Float64, {}), b = sample_input(DType::Bool, {});
  auto plain = make_ref<CheckAndRaise>("ValueError", "x is wrong");
  auto assertion = make_ref<CheckAndRaise>("AssertionError", "x is wrong");
  const Array matrix = sample_values(DType::Float64, {2, 3}), vector = sample_values(DType::Int16, {4});
  return {{plain->make_node({{x, b}}), {matrix, Array(true)}},
          {plain->make_node({{x}}), {matrix}},
          {assertion->make_node({{x, all(lt(abs(x), 1e6)), b}}), {matrix, Array(true)}},
          {assertion->make_node({{v, shape_i(v, 0)}}), {vector}},
          {assertion->make_node({{exp(x), all(isfinite(x))}}), {matrix}},
          {assertion->make_node({{s, b}}), {Array(0.5), Array(true)}}};
}

BITALE_REGISTER_OP(CheckAndRaise, "The input; an error when one of the conditions does not hold.",
                   check_and_raise_samples);

}  // namespace
}  // namespace bitale
