// The texts of DebugMode's errors: what differs, by how much, which node, and the user's line. Values are copied: those
// of a call are often borrowed, and an error outlives the call.
#include <algorithm>
#include <cmath>
#include <utility>

#include "bitale/compile/debug_mode.hpp"
#include "bitale/core/text.hpp"
#include "bitale/printing/printing.hpp"
#include "compile/differences.hpp"

namespace bitale {

namespace {

constexpr std::size_t longest_value = 400, longest_graph = 2000;

std::string shortened(std::string text, std::size_t longest) {
  if (text.size() > longest) text = text.substr(0, longest) + " ...";
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

std::string value_text(const Array& value) {
  return cat(dtype_name(value.dtype()), " ", tuple_text(value.shape()), " ", shortened(value.str(), longest_value));
}

std::string graph_text(const Variable& variable) {
  DprintOptions options;
  options.depth = 6;
  return shortened(dprint(variable, options), longest_graph);
}

std::string node_text(const Apply& node) {
  std::vector<std::string> inputs;
  for (const Variable& input : node.inputs()) inputs.push_back(input.str());
  return cat(node.op().label(), "(", join(inputs, ", "), ")");
}

void add_location(Error& error, const Apply& node) {
  if (!node.defined()) return;
  error.add("node", node_text(node));
  if (const Location& where = node.provenance().where) error.add("built at", where.str_with_callers());
  if (node.provenance().rule) error.add("made by", node.provenance().rule);
}

void add_values(Error& error, const std::string& first, const Array& a, const std::string& second, const Array& b) {
  error.add(first, value_text(a));
  error.add(second, value_text(b));
  error.add("difference", difference_text(a, b));
}

std::vector<Array> copies_of(const std::vector<Array>& values) {
  std::vector<Array> out;
  for (const Array& value : values) out.push_back(value.copy());
  return out;
}

std::string numbers(const std::vector<int>& list) {
  std::vector<std::string> parts;
  for (int i : list) parts.push_back(std::to_string(i));
  return join(parts, ", ");
}

}  // namespace

BadThunkOutput::BadThunkOutput(Variable r_, std::string thunk1_, Array val1_, std::string thunk2_, Array val2_,
                               std::vector<Array> inputs_val_)
    : DebugModeError(cat("BadThunkOutput: `", r_.str(), "` (", r_.type()->str(), "): ", thunk1_, " and ", thunk2_,
                         " give different values")),
      r(std::move(r_)),
      thunk1(std::move(thunk1_)),
      val1(val1_.copy()),
      thunk2(std::move(thunk2_)),
      val2(val2_.copy()),
      inputs_val(copies_of(inputs_val_)) {
  add_location(*this, r.owner());
  add_values(*this, thunk1, val1, thunk2, val2);
  for (std::size_t i = 0; i < inputs_val.size(); ++i) add(cat("input ", i), value_text(inputs_val[i]));
}

BadOptimization::BadOptimization(Variable old_r_, Variable new_r_, Array old_r_val_, Array new_r_val_,
                                 std::string reason_)
    : DebugModeError(cat("BadOptimization: the rewrite `", reason_, "` has changed a value")),
      old_r(std::move(old_r_)),
      new_r(std::move(new_r_)),
      old_r_val(old_r_val_.copy()),
      new_r_val(new_r_val_.copy()),
      reason(std::move(reason_)),
      old_graph(graph_text(old_r)),
      new_graph(graph_text(new_r)) {
  add("rewrite", reason);
  add("before", cat(old_r.str(), ", ", old_r.type()->str()));
  add("after", cat(new_r.str(), ", ", new_r.type()->str()));
  if (const Location where = old_r.where()) add("built at", where.str_with_callers());
  add_values(*this, "value before", old_r_val, "value after", new_r_val);
  add("graph before", old_graph);
  add("graph after", new_graph);
  add("hint", cat("to go on without it: mode.excluding(\"", reason, "\")"));
}

BadDestroyMap::BadDestroyMap(Apply node_, int idx_, Array old_val_, Array new_val_, std::string perform_)
    : DebugModeError(cat("BadDestroyMap: ", perform_, " of ", node_.op().label(), " has overwritten input ", idx_,
                         ", which the op does not declare to destroy")),
      node(std::move(node_)),
      idx(idx_),
      old_val(old_val_.copy()),
      new_val(new_val_.copy()),
      perform(std::move(perform_)) {
  add_location(*this, node);
  add_values(*this, "before", old_val, "after", new_val);
}

BadViewMap::BadViewMap(Apply node_, int output_idx_, Array out_storage_, std::vector<int> in_alias_idx_,
                       std::vector<int> out_alias_idx_)
    : DebugModeError(cat("BadViewMap: output ", output_idx_, " of ", node_.op().label(), " shares memory with ",
                         in_alias_idx_.empty() ? "output" : "input", " ",
                         numbers(in_alias_idx_.empty() ? out_alias_idx_ : in_alias_idx_),
                         ", which the op does not declare")),
      node(std::move(node_)),
      output_idx(output_idx_),
      out_storage(out_storage_.copy()),
      in_alias_idx(std::move(in_alias_idx_)),
      out_alias_idx(std::move(out_alias_idx_)) {
  add_location(*this, node);
  add("value", value_text(out_storage));
}

InvalidValueError::InvalidValueError(Variable r_, Array v_, std::string hint_, std::string specific_hint_)
    : DebugModeError(cat("InvalidValueError: `", r_.str(), "`: ", hint_)),
      r(std::move(r_)),
      v(v_.copy()),
      hint(std::move(hint_)),
      specific_hint(std::move(specific_hint_)) {
  add("expected", r.type()->str());
  add("got", value_text(v));
  if (!specific_hint.empty()) add("hint", specific_hint);
  add_location(*this, r.owner());
}

}  // namespace bitale
