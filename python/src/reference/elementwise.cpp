// What the record of an elementwise function says about its parameters, result, errors and derivatives.
#include "reference/elementwise.hpp"

#include <algorithm>
#include <exception>
#include <optional>

#include "bitale/core/dtype.hpp"
#include "bitale/core/text.hpp"
#include "ops/elementwise/scalar_op.hpp"

namespace bitale::python {

namespace {

const ScalarOp* record(std::string_view name) {
  static const std::vector<const ScalarOp*> all = scalar_ops();
  const auto has_name = [](std::string_view wanted) {
    return std::ranges::find_if(all, [wanted](const ScalarOp* op) { return op->name == wanted; });
  };
  auto at = has_name(name);
  if (at == all.end() && name.ends_with('_')) at = has_name(name.substr(0, name.size() - 1));
  return at == all.end() ? nullptr : *at;
}

// The dtype of the result when all operands have this one; nothing where the function is not defined.
std::optional<DType> result_dtype(const ScalarOp& op, DType dtype) {
  std::vector<DType> in(std::size_t(op.arity), dtype);
  if (op.has_condition) in[0] = DType::Bool;
  try {
    return op.dtypes(in).out;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

std::string dtype_text(const ScalarOp& op) {
  const auto out = [&](DType dtype) { return result_dtype(op, dtype); };
  const auto keeps = [&](DType dtype) { return out(dtype) == dtype; };
  if (out(DType::Float64) == DType::Bool) return "Its dtype is bool.";
  const std::string_view operands = op.arity == 1 ? "of the operand" : "that the operands have in common";
  const bool keeps_floats = keeps(DType::Float64) && keeps(DType::Float32);
  if (keeps_floats && keeps(DType::Int64)) return cat("Its dtype is the one ", operands, ".");
  if (keeps_floats && out(DType::Int64) == DType::Float64)
    return cat("Its dtype is the floating-point one ", operands,
               "; integers and bool are converted to floating point first.");
  if (keeps_floats) return cat("Its dtype is the one ", operands, "; operands are floating-point numbers.");
  if (!out(DType::Float64)) return cat("Its dtype is the integer one ", operands, ".");
  return "";
}

}  // namespace

std::string_view elementwise_doc(std::string_view name) {
  const ScalarOp* op = record(name);
  return op ? op->doc : std::string_view();
}

std::vector<DocItem> elementwise_parameters(std::string_view name) {
  const ScalarOp* op = record(name);
  if (!op) return {};
  if (op->arity == 1) return {{"x", "", "Operand, of any shape."}};
  std::vector<DocItem> out;
  const std::vector<std::string_view> names =
      op->arity == 4 ? std::vector<std::string_view>{"a", "b", "c", "z"} : std::vector<std::string_view>{"x", "y", "z"};
  for (int i = 0; i < op->arity; ++i)
    out.push_back(
        {std::string(names[std::size_t(i)]), "", "Operand; the shapes of the operands are broadcast together."});
  out.push_back({"more", "tensor_like", "Further operands, to which the function is applied from the left."});
  return out;
}

void elementwise_results(std::string_view name, std::vector<DocItem>& results) {
  const ScalarOp* op = record(name);
  if (!op) return;
  if (results.empty())
    results.push_back(
        {"", "",
         op->arity == 1 ? "Values, of the shape of the operand." : "Values, of the broadcast shape of the operands."});
  if (const std::string dtype = dtype_text(*op); !dtype.empty()) results[0].text += " " + dtype;
}

void elementwise_errors(std::string_view name, std::vector<DocItem>& errors) {
  const ScalarOp* op = record(name);
  if (!op) return;
  const bool no_bool = !result_dtype(*op, DType::Bool);
  const bool no_float = !result_dtype(*op, DType::Float64);
  const bool no_complex = !op->complex;
  std::vector<std::string_view> refused;
  if (no_bool) refused.push_back("bool");
  if (no_float) refused.push_back("floating-point");
  if (no_complex) refused.push_back("complex");
  if (refused.empty()) return;
  std::string text = "If an operand is ";
  for (std::size_t i = 0; i < refused.size(); ++i)
    text += cat(i == 0 ? "" : i + 1 == refused.size() ? " or " : ", ", refused[i]);
  errors.push_back({"TypeError", "", text + "."});
}

void elementwise_notes(std::string_view name, std::vector<std::string>& notes) {
  const ScalarOp* op = record(name);
  if (!op) return;
  const auto is = [&](ChainRule rule) {
    return !op->partials.empty() &&
           std::ranges::all_of(op->partials, [rule](ChainRule partial) { return partial == rule; });
  };
  if (is(zero_derivative)) notes.push_back("The function is piecewise constant: its derivative is 0.");
  if (is(no_derivative)) notes.push_back("There is no derivative: a gradient that needs one raises NullTypeGradError.");
}

}  // namespace bitale::python
