// Accesses: which iteration touches which element. Every access of some steps, and of the steps in them, is recorded
// once, with its multi-index and the loops around it. Passes and emitters ask here whether iterations are independent,
// whether steps may change places or share a loop, and how far apart neighbouring iterations are in memory.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

#include "bitale/core/small_vector.hpp"
#include "program/program.hpp"
#include "program/steps.hpp"

namespace bitale::program {

inline constexpr std::int64_t largest_stride = 1 << 16;

// How far apart an index, or an offset, is in neighbouring iterations, if that is a constant of moderate size. `varies`
// tells whether an expression may differ between the iterations.
template <class Varies>
std::optional<std::int64_t> stride(Expr at, Varies&& varies) {
  if (!varies(at)) return 0;
  if (at.code() == Code::index) return 1;
  if (at.code() != Code::add && at.code() != Code::sub && at.code() != Code::mul) return {};
  const Expr a = at.argument(0), b = at.argument(1);
  if (at.code() == Code::mul) {
    const Expr factor = a.is_constant() ? a : b;
    if (!factor.is_constant() || factor.payload() > largest_stride || factor.payload() < -largest_stride) return {};
    const auto other = stride(a.is_constant() ? b : a, varies);
    return other && std::abs(*other) <= largest_stride ? std::optional(*other * factor.payload()) : std::nullopt;
  }
  const auto of_a = stride(a, varies), of_b = stride(b, varies);
  if (!of_a || !of_b) return {};
  return at.code() == Code::add ? *of_a + *of_b : *of_a - *of_b;
}
// The same along one loop.
std::optional<std::int64_t> stride(Expr at, Expr index);
// How many elements after `from` the element `to` of the buffer lies, if that is a constant of moderate size.
std::optional<std::int64_t> distance(const Buffer& buffer, std::span<const Expr> from, std::span<const Expr> to);

// Whether the expression is known before any loop: it has no index, load or variable.
bool is_fixed(Expr root);

// One access to a buffer.
struct ElementAccess {
  AccessKind kind = AccessKind::read;
  Reach reach = Reach::element;
  bool is_load = false;               // by an expression, not by the step itself
  Combiner combiner = Combiner::add;  // of what an Accumulate combines
  SmallVector<Expr, 4> at = {};       // of an element; of memory that a function gets: its offset, or nothing
  int level = -1;                     // the innermost recorded loop around it, by number
  int step = 0;                       // the recorded step that accesses it, by number
  bool is_element() const { return reach == Reach::element; }
  bool is_handed() const { return reach == Reach::runtime_call || reach == Reach::host_call; }  // to a function
  // The first axis along which an element has this index.
  std::optional<std::size_t> axis_of(Expr index) const {
    for (std::size_t axis = 0; is_element() && axis < at.size(); ++axis)
      if (at[axis] == index) return axis;
    return {};
  }
};

class Accesses {
 public:
  // What the steps do with one buffer, in the order of the steps. What a step loads comes before what it does itself.
  struct OfBuffer {
    std::vector<ElementAccess> list;
    bool reads = false, writes = false;
  };
  // A loop among the steps.
  struct Level {
    Expr index, extent;
    int outer;  // the loop around it; -1: none
    bool holds_loops = false;
  };
  using Axes = std::uint64_t;  // a bit for each

  Accesses() = default;
  explicit Accesses(const Step& step) { add(step); }
  explicit Accesses(const Steps& steps) { add(steps, -1); }
  // Of what the loop carries, and of its body.
  explicit Accesses(const Loop& loop);

  void add(const Step& step) { add(step, -1); }
  void add(const Accesses& other);
  void add_load(Expr load);
  void add_store(std::int64_t buffer, std::span<const Expr> at);
  void read_whole(std::int64_t buffer);

  const std::map<std::int64_t, OfBuffer>& buffers() const { return buffers_; }
  const OfBuffer& of(std::int64_t buffer) const;
  bool reads(std::int64_t buffer) const { return of(buffer).reads; }
  bool writes(std::int64_t buffer) const { return of(buffer).writes; }
  bool touches(std::int64_t buffer) const { return buffers_.contains(buffer); }
  const std::vector<Level>& levels() const { return levels_; }

  // The loop around the level that no recorded loop is around; -1 for none.
  int outermost(int level) const;
  // How often the access happens in one iteration of what is around the recorded loops, which have known lengths.
  std::int64_t times(const ElementAccess& access) const;
  // Whether the loop of this index is the one of the level, or around it.
  bool is_within(int level, Expr index) const;
  // The axes along which every access to the buffer has this index.
  Axes own_axes(std::int64_t buffer, Expr index) const;
  // Whether different iterations of the loop of this index access different elements of the buffer, whatever the
  // indices of the other loops are.
  bool independent(std::int64_t buffer, Expr index) const;
  // Whether each iteration of the loop of this index stores to the buffer before it reads it, always to the same
  // elements: iterations may have a copy each.
  bool private_to(std::int64_t buffer, Expr index) const;

  std::set<std::int64_t> lengths;                // buffers whose lengths are read
  std::set<std::int64_t> used, defined;          // variables
  std::unordered_map<std::int64_t, int> set_at;  // variables that steps set: the innermost loop around the last of them
  bool may_fail = false;

 private:
  void add(const Step& step, int level);
  void add_load(Expr load, int level);
  void add(const Steps& steps, int level) {
    for (auto& step : steps) add(step, level);
  }
  int open(const Loop& loop, int level);
  void note(std::int64_t buffer, ElementAccess access);
  bool separates(Expr at, Expr index) const;
  bool is_below(Expr index, Expr limit) const;
  std::optional<std::int64_t> iterations(Expr index) const;

  std::map<std::int64_t, OfBuffer> buffers_;
  std::vector<Level> levels_;
  int steps_ = 0;
};

// Whether the two must keep the order that the program has; `apart` returns whether a buffer does not require it.
template <class Apart>
bool depend(const Accesses& a, const Accesses& b, Apart&& apart) {
  for (auto& [buffer, one] : a.buffers()) {
    const auto& other = b.of(buffer);
    if (((one.writes && (other.reads || other.writes)) || (one.reads && other.writes)) && !apart(buffer)) return true;
  }
  const auto meet = [](const std::set<std::int64_t>& one, const std::set<std::int64_t>& other) {
    for (const std::int64_t var : one)
      if (other.contains(var)) return true;
    return false;
  };
  return meet(a.defined, b.used) || meet(a.used, b.defined);
}
inline bool depend(const Accesses& a, const Accesses& b) {
  return depend(a, b, [](std::int64_t) { return false; });
}

}  // namespace bitale::program
