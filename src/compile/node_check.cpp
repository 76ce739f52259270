#include "compile/node_check.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "bitale/core/text.hpp"
#include "compile/differences.hpp"
#include "compile/into_receiver.hpp"
#include "compile/preallocated.hpp"
#include "graph/aliasing.hpp"
#include "graph/evaluate.hpp"

namespace bitale {

namespace {

using Arrays = std::vector<Array>;

bool is_among(int i, const std::vector<int>& list) { return std::find(list.begin(), list.end(), i) != list.end(); }
bool share(const Array& a, const Array& b) { return a.nbytes() && b.nbytes() && a.shares_memory_with(b); }

// The arguments of a node's function: one input for each distinct variable that is not a constant.
Variables leaves_of(const Apply& node) {
  Variables out;
  for (auto& input : node.inputs())
    if (!input.is_constant() && std::none_of(out.begin(), out.end(), [&](auto& one) { return one.same_as(input); }))
      out.push_back(input);
  return out;
}

std::size_t leaf_index(const Variables& leaves, const Variable& input) {
  return std::size_t(std::find_if(leaves.begin(), leaves.end(), [&](auto& one) { return one.same_as(input); }) -
                     leaves.begin());
}

// Whether code for one node can be used for the other.
bool same_code(const Apply& a, const Apply& b) {
  if (!a.op().equals(b.op()) || a.inputs().size() != b.inputs().size()) return false;
  const Variables of_a = leaves_of(a), of_b = leaves_of(b);
  for (std::size_t i = 0; i < a.inputs().size(); ++i) {
    const Variable &x = a.inputs()[i], &y = b.inputs()[i];
    if (x.is_constant() != y.is_constant() || (x.is_constant() && !x.same_as(y))) return false;
    if (!x.type()->equals(*y.type())) return false;
    if (!x.is_constant() && leaf_index(of_a, x) != leaf_index(of_b, y)) return false;
  }
  for (int k = 0; k < int(a.output_count()); ++k)
    if (!a.output(k).type()->equals(*b.output(k).type())) return false;
  return true;
}

// Tensors are compared with tolerances for arithmetic, other values as their type defines.
bool agree_as(const TypeBase& type, const Array& a, const Array& b) {
  return type.tensor() ? values_agree(a, b) : type.values_eq_approx(a, b);
}

std::shared_ptr<const CompiledNode> compiled_node(const Apply& node, const std::string& linker) {
  try {
    auto made = std::make_shared<CompiledNode>(linker, link::node_code(node, linker, {}));
    return made->code.thunk ? made : nullptr;
  } catch (const NotImplementedError&) {
    return nullptr;  // no compiler, or no code for this op
  }
}

}  // namespace

void require_valid(const Variable& variable, const Array& value, const DebugChecks& checks, const std::string& source) {
  const TensorType* type = as_tensor(variable.type());
  const auto refuse = [&](std::string what, std::string hint) {
    throw InvalidValueError(variable, value, cat(source, " is not a value of its type: ", what), std::move(hint));
  };
  if (!type) {
    if (!variable.type()->is_valid_value(value)) refuse(cat("expected a ", variable.type()->str()), "");
    return;
  }
  if (value.object()) refuse("it is an object of the host", "");
  if (value.dtype() != type->dtype) refuse(cat("the dtype is ", dtype_name(value.dtype())), "");
  if (!fits(*type, value)) refuse(cat("the shape is ", tuple_text(value.shape())), "");
  if (checks.finite && !all_finite(value))
    refuse("not all elements are finite", "DebugMode without the option check_isfinite allows nan and inf");
}

NodeCheck::NodeCheck(Apply node, const DebugChecks& checks, std::vector<std::shared_ptr<const CompiledNode>> code)
    : node_(std::move(node)), checks_(checks), code_(std::move(code)) {
  for (auto& input : node_.inputs()) input_types_.push_back(input.type()->storage());
  for (auto& output : node_.outputs()) output_types_.push_back(output.type()->storage());
}

Arrays NodeCheck::run(std::span<const Array> in) const {
  const Arrays out = perform_on_copies(in);
  const std::string source = cat("the result of perform of ", node_.op().label());
  for (std::size_t i = 0; i < out.size(); ++i) require_valid(node_.output(int(i)), out[i], checks_, source);
  if (checks_.perform) {
    perform_again(in, out);
    perform_into_memory(in, out);
  }
  for (auto& code : code_) run_code(*code, in, out);
  return out;
}

void NodeCheck::compare(const std::string& first, std::span<const Array> expected, const std::string& second,
                        std::span<const Array> got, std::span<const Array> in) const {
  for (std::size_t i = 0; i < expected.size(); ++i)
    if (!agree_as(*node_.output(int(i)).type(), expected[i], got[i]))
      throw BadThunkOutput(node_.output(int(i)), first, expected[i], second, got[i], Arrays(in.begin(), in.end()));
}

// All inputs are copies, so no other memory can be damaged.
Arrays NodeCheck::perform_on_copies(std::span<const Array> in) const {
  Arrays copies, out(node_.output_count());
  for (auto& value : in) copies.push_back(value.copy());
  try {
    perform_node(node_, copies, out);
  } catch (Error& error) {
    add_node_context(error, node_, in);
    throw;
  }
  if (!checks_.perform) return out;
  const std::vector<int> destroyed = destroyed_inputs(node_);
  for (int i = 0; i < int(in.size()); ++i)
    if (!is_among(i, destroyed) && !identical(in[std::size_t(i)], copies[std::size_t(i)]))
      throw BadDestroyMap(node_, i, in[std::size_t(i)], copies[std::size_t(i)], "perform");
  check_aliasing(copies, out);
  return out;
}

void NodeCheck::check_aliasing(std::span<const Array> in, std::span<const Array> out) const {
  const Op& op = node_.op();
  for (int k = 0; k < int(out.size()); ++k) {
    const Array& value = out[std::size_t(k)];
    std::vector<int> inputs, outputs;
    const std::vector<int> viewed = op.view_of(node_, k), destroyed = op.destroys(node_, k);
    for (int i = 0; i < int(in.size()); ++i)
      if (share(value, in[std::size_t(i)]) && !is_among(i, viewed) && !is_among(i, destroyed)) inputs.push_back(i);
    for (int j = 0; j < k; ++j)
      if (share(value, out[std::size_t(j)]) && viewed.empty() && destroyed.empty()) outputs.push_back(j);
    if (!inputs.empty() || !outputs.empty()) throw BadViewMap(node_, k, value, inputs, outputs);
    if (!checks_.warn_input_not_reused) continue;
    for (int i : destroyed)
      if (in[std::size_t(i)].nbytes() && value.nbytes() && !share(value, in[std::size_t(i)]))
        std::fprintf(stderr,
                     "bitale: warning: DebugMode: %s declares that output %d destroys input %d, but did not reuse it\n",
                     op.label().c_str(), k, i);
  }
}

void NodeCheck::perform_again(std::span<const Array> in, std::span<const Array> expected) const {
  Arrays values(in.begin(), in.end()), out(node_.output_count());
  copy_destroyed(node_, values);
  perform_node(node_, values, out);
  compare("perform", expected, "perform, again", out, in);
}

void NodeCheck::perform_into_memory(std::span<const Array> in, const Arrays& expected) const {
  for (auto& memory : preallocated(expected, checks_.memory_kinds, checks_.memory_ndim)) {
    Arrays values(in.begin(), in.end()), out = memory.targets;
    copy_destroyed(node_, values);
    perform_node(node_, values, out);
    compare("perform", expected, cat("perform, given ", memory.name, " memory"), out, in);
  }
}

void NodeCheck::run_code(const CompiledNode& compiled, std::span<const Array> in, const Arrays& expected) const {
  Arrays given, before;
  for (auto i : compiled.code.inputs) {
    given.push_back(in[i]);
    before.push_back(in[i].copy());
  }
  const std::string who = cat("linker ", compiled.linker);
  compare("perform", expected, who, compiled.code.thunk->run(given), in);
  for (std::size_t k = 0; k < given.size(); ++k)
    if (!identical(before[k], given[k]))
      throw BadDestroyMap(node_, int(compiled.code.inputs[k]), before[k], given[k], who);
  std::vector<View> views;
  for (auto& value : given) views.push_back(view_of(value));
  for (auto& memory : preallocated(expected, checks_.memory_kinds, checks_.memory_ndim)) {
    const std::string where = cat(who, ", into ", memory.name, " memory");
    try {
      run_code_into(compiled, views, memory.targets);
    } catch (const ShapeError&) {
      if (!memory.fits) continue;
      throw;
    }
    compare("perform", expected, where, memory.targets, in);
    if (const auto damage = memory.damage())
      throw BadThunkOutput(node_.output(), "memory around the result before", damage->first,
                           "memory around it after " + where, damage->second, Arrays(in.begin(), in.end()));
  }
}

void NodeCheck::run_code_into(const CompiledNode& compiled, std::span<const View> given,
                              std::span<const Array> targets) const {
  std::vector<View> views;
  for (auto& target : targets) views.push_back(view_of(target));
  std::vector<const TensorType*> input_types;
  for (auto i : compiled.code.inputs) input_types.push_back(input_types_[i]);
  IntoReceiver results({views, input_types, output_types_, compiled.code.thunk->writes_last(), nullptr});
  compiled.code.thunk->run(given, results);
  results.finish();
}

std::vector<std::shared_ptr<const CompiledNode>> NodeCompiler::compile(const Apply& node) {
  const std::size_t hash = node.op().hash();
  for (auto [at, end] = known_.equal_range(hash); at != end; ++at)
    if (same_code(at->second.node, node)) return at->second.code;
  std::vector<std::shared_ptr<const CompiledNode>> code;
  for (auto& linker : linkers_)
    if (auto one = compiled_node(node, linker)) code.push_back(std::move(one));
  known_.emplace(hash, Known{node, code});
  return code;
}

}  // namespace bitale
