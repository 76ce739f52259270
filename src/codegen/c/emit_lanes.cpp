// Reductions of floats in vector loops: each lane has its own partial result in an array, and these are combined in the
// order of explicit vectors, so that results are equal to theirs to the last bit. C compilers vectorize this form.
#include <algorithm>

#include "bitale/core/text.hpp"
#include "codegen/c/emit.hpp"
#include "program/index_runs.hpp"
#include "program/steps.hpp"

namespace bitale::codegen::c {

using program::Combiner;

namespace {
constexpr int tree_levels = 40;
}

// Integers need no lanes, since they may be combined in any order; nor do extremes with positions, of which the first
// counts.
bool Emitter::in_lanes(const program::Update& update) const { return lane_arrays_.count(update.var.payload()) != 0; }

bool Emitter::needs_lanes(const program::Loop& loop) const {
  if (!loop.vector) return false;
  if (loop.schedule.runs_of >= 0) return true;
  return std::any_of(loop.body.begin(), loop.body.end(), [&](const program::Step& step) {
    auto* update = program::as_update(step);
    return update && !update->position_var.defined() && is_float(update->var.dtype()) &&
           !prefixes_.count(update->var.payload());
  });
}

void Emitter::start_lanes(const LaneArray& array, const program::Schedule& schedule) {
  const std::string_view type = value_type(array.var.dtype());
  const std::string start =
      constant_text(array.var.dtype(), program::identity(array.combiner, pool_, array.var.dtype()).payload());
  const int slots = schedule.lanes * schedule.accumulators;
  line(cat(type, " ", array.name, "[", slots, "];"));
  line(cat("for (int k = 0; k < ", slots, "; ++k) ", array.name, "[k] = ", start, ";"));
  if (array.tree.empty()) return;
  line(cat(type, " ", array.tree, "[", tree_levels * schedule.lanes, "];"));
  line(cat("int64_t ", array.count, " = 0;"));
}

void Emitter::finish_lanes(const LaneArray& array, const program::Schedule& schedule) {
  const DType dtype = array.var.dtype();
  const std::string& total = var_names_.at(array.var.payload());
  constexpr std::string_view functions[] = {"bt_lanes_add", "bt_lanes_mul", "bt_lanes_min", "bt_lanes_max"};
  const std::string lanes = cat(support_.use(functions[int(array.combiner)], dtype), "(", array.name, ", ",
                                schedule.lanes * schedule.accumulators, ")");
  line(cat(total, " = ", operations_.combined(array.combiner, dtype, {total, Text::atom}, {lanes, Text::atom}), ";"));
}

void Emitter::start_groups(const program::Loop& loop) {
  const Expr groups = index_runs_of(program_, loop);
  if (!groups.defined()) return;
  for (auto& step : loop.body) {
    auto* sum = program::as_add(step);
    if (!sum || !is_float(buffer(sum->buffer).dtype) || offset_of(program_, sum->buffer, sum->at) != groups) continue;
    const Terms terms{names_.take("offsets"), names_.take("terms")};
    const int slots = loop.schedule.lanes * loop.schedule.accumulators;
    line(cat("int64_t ", terms.offsets, "[", slots, "];"));
    line(cat(value_type(buffer(sum->buffer).dtype), " ", terms.values, "[", slots, "];"));
    terms_[sum] = terms;
  }
}

void Emitter::lanes_loop(const program::Loop& loop, const std::string& extent) {
  const program::Schedule& schedule = loop.schedule;
  const std::string i = index_names_.at(loop.index.payload());
  const int depth = levels_.back().depth, slots = schedule.lanes * schedule.accumulators;
  std::vector<LaneArray> arrays;
  for (auto& step : loop.body) {
    auto* update = program::as_update(step);
    if (!update || update->position_var.defined() || !is_float(update->var.dtype()) ||
        prefixes_.count(update->var.payload()))
      continue;
    if (lane_arrays_.count(update->var.payload())) continue;
    const std::string& total = var_names_.at(update->var.payload());
    LaneArray array{names_.take(total + "_lane"), "", "", update->combiner, update->var};
    if (schedule.pairwise && is_float_sum(*update)) {
      array.tree = names_.take(total + "_tree");
      array.count = names_.take(total + "_blocks");
    }
    lane_arrays_[update->var.payload()] = array;
    arrays.push_back(array);
  }
  const std::string start = names_.take(i + "_start"), end = names_.take(i + "_end"), whole = names_.take(i + "_whole");
  lane_ = cat(i, " - ", start);

  for (auto& array : arrays) start_lanes(array, schedule);
  start_groups(loop);
  const bool sums = std::any_of(arrays.begin(), arrays.end(), [](auto& array) { return !array.tree.empty(); });
  open_level(loop.index, depth + 2);
  emit(loop.body);
  Level& outside = levels_[levels_.size() - 2];
  const auto around = [&](int deeper, std::string text) {
    add_line(outside, std::string(std::size_t(2 * deeper), ' ') + std::move(text));
  };
  if (sums) around(0, cat("const int64_t ", whole, " = ", extent, " - ", extent, " % ", slots, ";"));
  around(0, cat("for (int64_t ", start, " = 0, ", end, "; ", start, " < ", extent, "; ", start, " = ", end, ") {"));
  // First all lanes of all accumulators at a time, then the lanes of one vector, then the rest.
  const std::string left = cat(extent, " - ", start);
  const std::string rest = cat("(", left, " >= ", schedule.lanes, " ? ", schedule.lanes, " : ", left, ")");
  if (schedule.accumulators > 1)
    around(1, cat(end, " = ", start, " + (", left, " >= ", slots, " ? ", slots, " : ", rest, ");"));
  else
    around(1, cat(end, " = ", start, " + ", rest, ";"));
  around(1, cat("for (int64_t ", i, " = ", start, "; ", i, " < ", end, "; ++", i, ") {"));
  close_level();
  line("  }");
  for (auto& step : loop.body) {
    auto* sum = program::as_add(step);
    const auto terms = sum ? terms_.find(sum) : terms_.end();
    if (terms == terms_.end()) continue;
    line(cat("  ", support_.use("bt_add_runs", buffer(sum->buffer).dtype), "(", data_name(sum->buffer), ", ",
             terms->second.offsets, ", ", terms->second.values, ", ", end, " - ", start, ", ", schedule.lanes, ");"));
    terms_.erase(terms);
  }
  for (auto& array : arrays) {
    if (array.tree.empty()) continue;
    const DType dtype = array.var.dtype();
    const std::string sizes = cat(schedule.lanes, ", ", schedule.accumulators);
    // If there is only one block, its sums stay in the lanes.
    line(cat("  if (", end, " <= ", whole, " && (", end, " % ", slots * pairwise_block, " == 0 || ", end, " == ", whole,
             ") && !(", end, " == ", whole, " && ", array.count, " == 0))"));
    line(cat("    ", support_.use("bt_block", dtype), "(", array.name, ", ", array.tree, ", &", array.count, ", ",
             sizes, ");"));
    line(cat("  if (", end, " == ", whole, ") ", support_.use("bt_sum_up", dtype), "(", array.name, ", ", array.tree,
             ", ", array.count, ", ", schedule.lanes, ");"));
  }
  line("}");
  for (auto& array : arrays) {
    finish_lanes(array, schedule);
    lane_arrays_.erase(array.var.payload());
  }
  names_.give_back(start);
  names_.give_back(end);
  lane_.clear();
}

}  // namespace bitale::codegen::c
