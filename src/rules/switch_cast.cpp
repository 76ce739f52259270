// Switches whose choice is decided, casts that change nothing, and comparisons with a known result.
#include <cmath>

#include "ops/analysis/lengths.hpp"
#include "ops/elementwise/elemwise.hpp"
#include "ops/indexing/check_mask.hpp"
#include "ops/shapes/dimshuffle.hpp"
#include "rules/vocabulary.hpp"

namespace bitale::rewriting {

namespace {

// A mask whose length is checked against the tensor that it selects from: dropping it would lose an IndexError.
bool is_checked_mask(Variable v) {
  while (op_as<DimShuffle>(v)) v = v.owner().input(0);
  return op_as<CheckMask>(v) != nullptr;
}

std::optional<Variables> settled_switch(FunctionGraph&, const Apply& node) {
  const std::optional<double> condition = scalar_constant(node.input(0));
  if (condition) return one(fit(node.input(*condition != 0 ? 1 : 2), node.output()));
  const std::optional<double> a = scalar_constant(node.input(1)), b = scalar_constant(node.input(2));
  if (!a || !b || *a != *b || std::signbit(*a) != std::signbit(*b) || is_checked_mask(node.input(0)))
    return std::nullopt;
  return one(fit(node.input(1), node.output()));
}

// f(switch(c, a, b), switch(c, d, e)) is switch(c, f(a, d), f(b, e)).
std::optional<Variables> joint_switch(FunctionGraph& graph, const Apply& node) {
  const Variable output = node.output();
  if (node.inputs().size() < 2) return std::nullopt;
  Variable condition;
  Variables if_true, if_false;
  for (auto& operand : node.inputs()) {
    if (!is_elemwise(operand, "switch") || graph.clients(operand).size() != 1) return std::nullopt;
    const Apply choice = operand.owner();
    if (condition.defined() && !condition.same_as(choice.input(0))) return std::nullopt;
    condition = choice.input(0);
    // Each branch is converted to the operand's dtype, since a switch has the common dtype of its branches.
    if_true.push_back(cast(choice.input(1), operand.dtype()));
    if_false.push_back(cast(choice.input(2), operand.dtype()));
  }
  return one(fit(switch_(condition, node.op()(if_true), node.op()(if_false)), output));
}

bool is_cast(const Variable& v) {
  const ScalarOp* scalar = scalar_op_of(v);
  return scalar && scalar->name.starts_with("cast_");
}

// Whether a cast through `middle` equals the direct cast. The inner cast must preserve every value, which a cast of a
// 64-bit integer to a float does not, and the outer cast must treat both dtypes alike: integers wrap, floats do not.
bool may_skip(DType from, DType middle, DType to) {
  if (!can_cast_safely(from, middle)) return false;
  if (!is_discrete(from) || is_discrete(middle)) return true;
  return itemsize(from) < 8 && (!is_integer(to) || can_cast_safely(from, to));
}

// cast(cast(x)) skips the inner cast where that changes nothing.
std::optional<Variables> skip_inner_cast(FunctionGraph&, const Apply& node) {
  const Variable output = node.output();
  if (!is_cast(output)) return std::nullopt;
  const Variable& middle = node.input(0);
  if (middle.dtype() == output.dtype()) return one(middle);
  if (!is_cast(middle)) return std::nullopt;
  const Variable x = middle.owner().input(0);
  if (!may_skip(x.dtype(), middle.dtype(), output.dtype())) return std::nullopt;
  return one(cast(x, output.dtype()));
}

// Lengths are never negative.
std::optional<Variables> compare_length(FunctionGraph&, const Apply& node) {
  const std::string_view name = scalar_op_of(node.output())->name;
  auto is_length = [](const Variable& v) {
    return v.ndim() == 0 && is_integer(v.dtype()) && !v.is_constant() && is_never_negative(v);
  };
  auto is_zero = [](const Variable& v) { return scalar_constant(v) == 0.0; };
  const Variable &a = node.input(0), &b = node.input(1);
  const bool length_first = is_length(a) && is_zero(b), length_second = is_zero(a) && is_length(b);
  if (!length_first && !length_second) return std::nullopt;
  const Variable& length = length_first ? a : b;
  auto known = [&](bool value) { return one(fit(constant(Array(value)), node.output())); };
  if (name == "lt") return length_first ? known(false) : std::nullopt;
  if (name == "ge") return length_first ? known(true) : std::nullopt;
  if (name == "gt") return length_second ? known(false) : std::nullopt;
  if (name == "le") return length_second ? known(true) : std::nullopt;
  if (name == "maximum") return one(fit(length, node.output()));
  return one(fit(constant_like(0, node.output().dtype()), node.output()));  // minimum
}

void declare_switch_cast(Rules& rules) {
  auto [c, x, y, z] = pattern_variables<4>();
  rules.function("settled_switch", Root::scalar({"switch"}), settled_switch)
      .with_input(Root::number())
      .doc(
          "Replaces a switch with a constant condition by the selected branch, and one between equal numbers by the "
          "number.")
      .tags(useless, canonicalize, specialize, "local_useless_switch")
      .sample([] { return switch_(constant(Array(true)), sample_vector(), 0.0); })
      .sample([] { return switch_(constant(Array(0)), sample_vector(), sample_matrix()); })
      .sample([] { return switch_(gt(sample_vector(), 0.), 2., constant(Array(2L))) * sample_matrix(); });
  rules.equation("switch_of_same", switch_(c, x, x), x)
      .on(any_dtype)
      .when([](const Match& match) { return !is_checked_mask(match.node().input(0)); })
      .tags(useless, canonicalize, specialize, "local_useless_switch");
  rules.equation("switch_in_true_branch", switch_(c, switch_(c, x, y), z), switch_(c, x, z))
      .on(any_dtype)
      .tags(canonicalize);
  rules.equation("switch_in_false_branch", switch_(c, x, switch_(c, y, z)), switch_(c, x, z))
      .on(any_dtype)
      .tags(canonicalize);

  rules.function("joint_switch", Root::elemwise(), joint_switch)
      .with_input(Root::scalar({"switch"}))
      .doc("Rewrites an operation on switches with the same condition as one switch.")
      .tags(canonicalize, "local_merge_switch_same_cond")
      .sample([] {
        const Variable chosen = sample_vector() > 0.1;
        return switch_(chosen, sample_vector(), 0.0) * switch_(chosen, sample_vector(), sample_vector());
      });

  std::initializer_list<std::string> casts = {"cast_bool",   "cast_int8",    "cast_int16",  "cast_int32",
                                              "cast_int64",  "cast_uint8",   "cast_uint16", "cast_uint32",
                                              "cast_uint64", "cast_float32", "cast_float64"};
  rules.function("cast_of_cast", Root::scalar(casts), skip_inner_cast)
      .doc("Removes a cast to the operand's own dtype, and an intermediate cast that preserves every value.")
      .tags(useless, canonicalize, specialize, "local_cast_cast")
      .sample([] { return cast(cast(sample_leaf(DType::Float32, {3}), DType::Float64), DType::Int8); })
      .sample([] { return cast(cast(sample_leaf(DType::Int8, {any_length}), DType::Int16), DType::Int8); });
  rules
      .function("length_compared_to_zero", Root::scalar({"lt", "le", "gt", "ge", "maximum", "minimum"}), compare_length)
      .doc(
          "Simplifies comparisons of a length with 0, and its maximum and minimum with 0, since lengths are not "
          "negative.")
      .tags(canonicalize, specialize, "local_useless_elemwise_comparison")
      .sample([] { return lt(shape_i(sample_vector(), 0), 0); })
      .sample([] { return maximum(shape_i(sample_vector(), 0), 0); });
}

const RegisterRules register_switch_cast("switch_cast", declare_switch_cast);

}  // namespace

}  // namespace bitale::rewriting
