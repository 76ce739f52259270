// Lanes that read elements by checked indices, as `mu[group]` does: select(ok, w, 0), where w is the index i with
// negative ones wrapped, and ok says whether w is below the length. The body of such a loop is emitted twice: for lanes
// whose indices are all in 0..length - 1, where i itself is the position, and for all others. The first body reads each
// index as a scalar, so that no lane has to be extracted from a vector.
#include <algorithm>

#include "codegen/llvm/emit.hpp"
#include "program/steps.hpp"

namespace bitale::codegen {

using program::Code;
using program::Expr;

namespace {

constexpr std::size_t max_operations_in_two_bodies = 200;  // expressions

// The operand of a conversion from int64 to uint64, which a constant has undergone already, or nothing.
Expr signed_operand(Expr expr) {
  if (expr.is_constant() && expr.payload() >= 0) return expr.pool().integer(expr.payload());
  const bool converts =
      expr.code() == Code::cast && expr.dtype() == DType::UInt64 && expr.argument(0).dtype() == DType::Int64;
  return converts ? expr.argument(0) : Expr();
}

}  // namespace

std::optional<Emitter::CheckedIndex> Emitter::checked_index(Expr position) {
  if (position.code() != Code::select || !position.argument(2).is_constant(0)) return {};
  const Expr ok = position.argument(0), wrapped = position.argument(1);
  if (ok.code() != Code::lt || !(signed_operand(ok.argument(0)) == wrapped)) return {};
  const Expr length = signed_operand(ok.argument(1));
  if (!length.defined() || varies(length)) return {};
  const bool wraps = wrapped.code() == Code::select && wrapped.argument(0).code() == Code::lt &&
                     wrapped.argument(0).argument(1).is_constant(0);
  const Expr index = wraps ? wrapped.argument(2) : wrapped;
  if (wraps && !(wrapped.argument(0).argument(0) == index && wrapped.argument(1) == index + length)) return {};
  if (!varies(index)) return {};
  return CheckedIndex{position, ok, wrapped, index, length};
}

// Those of the loop that lanes gather by, if the body is worth being emitted twice.
std::vector<Emitter::CheckedIndex> Emitter::checked_indices_of(const program::Loop& loop) {
  std::vector<CheckedIndex> found;
  if (!target_.slow_gathers || lanes_->mask || lanes_->groups.defined() || !may_branch() ||
      operations_in_lanes() > max_operations_in_two_bodies)
    return found;
  program::ExprWalk walk;
  for (auto& step : loop.body)
    program::for_each_expr(step, [&](const Expr& root) {
      walk(root, [&](Expr expr) {
        if (expr.code() != Code::load || expr.argument_count() != 1) return;
        if (const auto checked = checked_index(expr.argument(0))) found.push_back(*checked);
      });
    });
  return found;
}

void Emitter::emit_by_indices(const program::Loop& loop, const std::vector<CheckedIndex>& indices) {
  Value unusual = nullptr;
  for (auto& [position, ok, wrapped, index, length] : indices) {
    const Value i = lanes_of(index), rest = l_.BuildSub(builder_, lanes_of(length - 1), i, "");
    const Value signs = l_.BuildOr(builder_, i, rest, "");
    unusual = unusual ? l_.BuildOr(builder_, unusual, signs, "") : signs;
  }
  const Value some =
      any_lane(l_.BuildICmp(builder_, LLVMIntSLT, unusual, constant(DType::Int64, 0, lanes_->count), ""));
  mark_unlikely(emit_two_bodies(loop, some, "unusual_indices", [&] {
    for (auto& [position, ok, wrapped, index, length] : indices) {
      set_value(ok, full_mask(lanes_->count));
      for (const Expr& same : {wrapped, position}) set_value(same, lanes_of(index));
      lanes_->direct.emplace(position.id(), index);
    }
  }));
  lanes_->direct.clear();
}

// Loads elements of a buffer at positions that are read from another buffer.
Emitter::Value Emitter::gather_direct(DType dtype, std::int64_t buffer, Expr index) {
  const bool converts = index.code() == Code::cast && is_integer(index.argument(0).dtype());
  const Expr source = converts ? index.argument(0) : index;
  const bool is_read = source.code() == Code::load && in_order(source.payload(), program::arguments_of(source));
  if (!is_read) return gather(dtype, buffer, value(index));
  const Place place = place_of(source.payload(), program::arguments_of(source));
  const Value start = l_.BuildAdd(builder_, value(place.row), start_of(place.last), "");
  return load_each_lane(dtype, buffer, [&](int lane) {
    const Value at = address(source.payload(), l_.BuildAdd(builder_, start, int64(lane), ""));
    const Value position = from_memory(source.dtype(), l_.BuildLoad2(builder_, memory_type(source.dtype()), at, ""));
    return converts ? build_cast(position, source.dtype(), DType::Int64) : position;
  });
}

}  // namespace bitale::codegen
