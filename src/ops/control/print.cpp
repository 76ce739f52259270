#include "ops/control/print.hpp"

#include <cstdio>
#include <numeric>

#include "bitale/ops/debugging.hpp"
#include "bitale/ops/lowering.hpp"
#include "bitale/ops/registry.hpp"
#include "core/handler.hpp"
#include "graph/replay.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/sample_values.hpp"

namespace bitale {
namespace {

Handler<PrintHandler>& handler() {
  static auto& held = *new Handler<PrintHandler>;
  return held;
}

struct Printable {
  std::string_view name;
  std::string (*text)(const Array& value);
};
constexpr Printable printables[] = {
    {"__str__", [](const Array& value) { return value.str(); }},
    {"__repr__", [](const Array& value) { return value.repr(); }},
    {"shape", [](const Array& value) { return tuple_text(value.shape()); }},
    {"strides", [](const Array& value) { return tuple_text(value.strides()); }},
    {"dtype", [](const Array& value) { return std::string(dtype_name(value.dtype())); }},
    {"ndim", [](const Array& value) { return cat(value.ndim()); }},
    {"size", [](const Array& value) { return cat(value.size()); }},
};

std::string attribute_of(const Array& value, const std::string& name) {
  for (auto& known : printables)
    if (known.name == name) return known.text(value);
  std::vector<std::string> names;
  for (auto& known : printables) names.emplace_back(known.name);
  throw NotImplementedError(cat("Print: the attribute `", name, "`; there are ", join(names, ", ")));
}

void to_stdout(const PrintRequest& request) {
  if (!request.function.empty())
    throw NotImplementedError(cat("Print: nothing here calls the function ", request.function));
  std::string text;
  for (auto& name : request.attrs)
    text += cat(request.message, " ", name, " = ", attribute_of(request.value, name), "\n");
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> out;
  for (std::size_t begin = 0; begin <= text.size() && !text.empty();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    out.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

}  // namespace

void set_print_handler(PrintHandler function) { handler().set(std::move(function)); }

std::string Print::label() const {
  std::vector<std::string> parts;
  if (!message.empty()) parts.push_back(cat("message=", message));
  if (attrs != "__str__") parts.push_back(cat("attrs=", attrs));
  if (!function.empty()) parts.push_back(cat("function=", function));
  return parts.empty() ? "Print" : cat("Print{", join(parts, ", "), "}");
}

Apply Print::make_node(std::span<const Variable> inputs) const {
  require_inputs(*this, inputs, 1);
  return Apply(OpRef(this), {inputs[0]}, {tensor_type(inputs[0].dtype(), inputs[0].static_shape())});
}

std::vector<Shape> Print::infer_shape(const Apply&, std::span<const Shape> inputs) const { return {inputs[0]}; }

void Print::perform(const Apply&, std::span<const Array> in, std::span<Array> out) const {
  out[0] = in[0];
  if (Replay::is_running()) return;
  const PrintRequest request{message, split(attrs), function, in[0]};
  if (const auto print = handler().get())
    (*print)(request);
  else
    to_stdout(request);
}

bool Print::emit(Lowering& to, const Apply& node) const {
  to.observe();
  std::vector<int> order(std::size_t(node.output().ndim()));
  std::iota(order.begin(), order.end(), 0);
  to.permute(0, 0, order);
  return true;
}

Variables Print::pullback(const Apply&, std::span<const Variable> cotangents) const { return {cotangents[0]}; }
Variables Print::pushforward(const Apply&, std::span<const Variable> tangents) const { return {tangents[0]}; }
Apply Print::vectorize(const Apply&, std::span<const Variable> batched) const { return make_node(batched); }
std::vector<int> Print::view_of(const Apply&, int) const { return {0}; }

Variable print(const Operand& x, std::string message, std::vector<std::string> attrs, std::string function) {
  LocationScope here(x.where);
  for (auto& name : attrs)
    if (name.find(',') != name.npos) throw ValueError(cat("print: `", name, "` is not an attribute name"));
  return (*make_ref<Print>(std::move(message), join(attrs, ","), std::move(function)))({x.variable});
}

namespace {

// No attributes of the value are printed, so that tests are quiet.
std::vector<Sample> print_samples() {
  constexpr auto any = unknown_length;
  auto x = sample_input(DType::Float64, {any, any}), s = sample_input(DType::Int8, {});
  auto op = make_ref<Print>("message", "", "");
  return {{op->make_node({{x}}), {sample_values(DType::Float64, {2, 3})}},
          {op->make_node({{s}}), {Array(3.0).astype(DType::Int8)}}};
}

BITALE_REGISTER_OP(Print, "The input, which is printed when it is computed.", print_samples);

}  // namespace
}  // namespace bitale
