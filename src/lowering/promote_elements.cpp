// Scalar replacement: in a serial loop (a scan), a small buffer of known lengths becomes variables, one for each
// element, if all its indices are constants once short loops are unrolled. Values that pass from one iteration to the
// next are states of the loop; values that are read elsewhere are stored once, after the loop.
#include <algorithm>
#include <map>
#include <set>

#include "lowering/costs.hpp"
#include "lowering/passes.hpp"
#include "lowering/straight_code.hpp"
#include "program/steps.hpp"

namespace bitale::lowering {

namespace {

using program::Code;
using program::Loop;
using program::Step;
using program::Steps;

using namespace costs::scans;

// What is known of one step of the loop's body.
struct InnerNest {
  bool unrolls = false;
  std::int64_t size = 0;  // expressions after unrolling
  program::Accesses accesses;
  bool touches(const std::set<std::int64_t>& buffers) const {
    return std::ranges::any_of(buffers, [&](std::int64_t buffer) { return accesses.touches(buffer); });
  }
};

class Promoter {
 public:
  Promoter(Program& program, Declarations& declare) : program_(program), pool_(*program.pool), declare_(declare) {}

  void run() { run(program_.steps, 0); }

 private:
  // Inner loops come first: the loops around them can then promote what they have left in variables.
  void run(Steps& steps, int depth) {
    for (std::size_t i = 0; i < steps.size(); ++i) {
      program::for_each_body(steps[i], [&](Steps& body) { run(body, depth + 1); });
      auto* loop = program::as_loop(steps[i]);
      if (!loop || !is_serial(*loop)) continue;
      Steps after = promote(*loop, depth);
      steps.insert(steps.begin() + std::ptrdiff_t(i + 1), std::make_move_iterator(after.begin()),
                   std::make_move_iterator(after.end()));
    }
  }

  static bool is_serial(const Loop& loop) {
    return std::any_of(loop.carries.begin(), loop.carries.end(), [](auto& carry) { return carry.is_state(); });
  }

  // ---- what can be unrolled and promoted ----

  // The number of expressions of the unrolled step, or nothing where it cannot be unrolled.
  static std::optional<std::int64_t> unrolled_size(const Step& step) {
    const auto* loop = program::as_loop(step);
    if (!loop) {
      return program::is_simple(step) ? std::optional(expression_count(step)) : std::nullopt;
    }
    if (!loop->extent.is_constant() || loop->until.defined()) return {};
    const std::int64_t extent = loop->extent.payload();
    if (extent < 1 || extent > max_elements) return {};
    for (auto& carry : loop->carries)
      if (carry.kind != program::CarryKind::reduce) return {};
    std::int64_t size = 0, straight = 0;
    for (auto& inner : loop->body) {
      const auto each = unrolled_size(inner);
      if (!each) return {};
      const bool is_innermost = !program::as_loop(inner);
      if (is_innermost) straight += *each;
      if (is_innermost && (extent >= full_lanes || (straight > worth_lanes && extent >= enough_lanes))) return {};
      size += *each;
    }
    size *= extent;
    return size <= max_per_nest ? std::optional(size) : std::nullopt;
  }

  bool is_small(std::int64_t b) const {
    const program::Buffer& buffer = program_.buffers[std::size_t(b)];
    if (buffer.role != program::Role::temporary && buffer.role != program::Role::output) return false;
    std::int64_t count = 1;
    for (auto& length : buffer.shape) {
      if (!length.is_constant() || length.payload() < 0 || length.payload() > max_elements) return false;
      count *= std::max<std::int64_t>(1, length.payload());
      if (count > max_elements) return false;
    }
    return true;
  }

  std::set<std::int64_t> candidates(const Loop& loop, std::vector<InnerNest>& nests) const {
    std::set<std::int64_t> stored, refused, out;
    for (auto& step : loop.body) {
      InnerNest& nest = nests.emplace_back();
      const auto size = unrolled_size(step);
      nest.unrolls = size && program::as_loop(step) != nullptr;
      nest.size = size.value_or(0);
      bool has_bodies = false;
      program::for_each_body(step, [&](const Steps&) { has_bodies = true; });
      const bool stays = has_bodies && !nest.unrolls;
      nest.accesses.add(step);
      for (auto& [b, accessed] : nest.accesses.buffers()) {
        if (accessed.writes) stored.insert(b);
        const bool good = !(accessed.writes && stays) && std::ranges::all_of(accessed.list, [&](auto& access) {
          return access.is_element() && std::ranges::all_of(access.at, [&](Expr index) {
                   return is_number_of(index, nest.accesses, stays ? -1 : access.level);
                 });
        });
        if (!good) refused.insert(b);
      }
    }
    if (loop.until.defined())
      program::ExprWalk()(loop.until, [&](Expr expr) {
        if (expr.code() == Code::load) refused.insert(expr.payload());
      });
    for (auto b : stored)
      if (!refused.contains(b) && is_small(b)) out.insert(b);
    return out;
  }

  // Leaves the buffers of the heaviest nests in memory until the rest is small enough.
  static void keep_small(const std::vector<InnerNest>& nests, std::set<std::int64_t>& chosen) {
    for (;;) {
      std::int64_t all = 0;
      const InnerNest* heaviest = nullptr;
      for (auto& nest : nests) {
        if (!nest.unrolls || !nest.touches(chosen)) continue;
        all += nest.size;
        if (!heaviest || nest.size > heaviest->size) heaviest = &nest;
      }
      if (all <= max_per_loop) return;
      for (auto& [b, accessed] : heaviest->accesses.buffers()) chosen.erase(b);
    }
  }

  // ---- the loop without the promoted buffers ----

  // How often each buffer is read and written.
  struct Uses {
    std::map<std::int64_t, std::int64_t> reads, writes;
    void add(const Steps& steps, std::int64_t sign) {
      const program::Accesses accesses(steps);
      for (auto& [b, accessed] : accesses.buffers())
        for (auto& access : accessed.list) {
          reads[b] += access.kind == program::AccessKind::write ? 0 : sign;
          writes[b] += access.kind == program::AccessKind::read ? 0 : sign;
        }
    }
  };
  // The uses outside the body of the loop.
  Uses outside(const Loop& loop) const {
    Uses uses;
    uses.add(program_.steps, 1);
    uses.add(loop.body, -1);
    for (std::size_t b = 0; b < program_.buffers.size(); ++b)
      if (program_.buffers[b].role == program::Role::output) ++uses.reads[std::int64_t(b)];
    program::for_each_load_of_lengths(program_, [&](Expr load) { ++uses.reads[load.payload()]; });
    return uses;
  }

  // Returns the steps that follow the loop.
  Steps promote(Loop& loop, int depth) {
    std::vector<InnerNest> nests;
    chosen_ = candidates(loop, nests);
    if (chosen_.empty()) return {};
    Uses uses = outside(loop);
    // In an inner loop, a buffer is kept in memory if only this loop writes it and others read it: the next iteration
    // of the outer loop may read it here.
    std::erase_if(chosen_, [&](std::int64_t b) { return depth > 0 && uses.reads[b] > 0 && uses.writes[b] == 0; });
    keep_small(nests, chosen_);
    if (chosen_.empty()) return {};
    begun_.clear();
    loop_ = &loop;
    StraightCode code(program_, declare_, chosen_, [&](Expr load) { return begin(load, load); });
    Steps body = std::exchange(loop.body, {});
    for (std::size_t k = 0; k < body.size(); ++k) {
      if (nests[k].unrolls && nests[k].touches(chosen_))
        code.unroll(body[k], loop.body);
      else
        code.append(std::move(body[k]), loop.body);
    }
    // The states of the loop, and the stores after it.
    for (auto load : code.stored()) {
      const std::int64_t b = load.payload();
      if (uses.reads[b] > 0 && !begun_.contains(load.id()))
        begin(load, uses.writes[b] > 0 ? load : pool_.number(0, load.dtype()));
    }
    for (auto& [id, var] : begun_) loop.body.push_back({program::Next{var, code.value_of(id)}});
    Steps after;
    for (auto load : code.stored())
      if (uses.reads[load.payload()] > 0)
        after.push_back({program::Store{load.payload(), program::arguments_of(load), begun_.at(load.id())}});
    return after;
  }

  // Makes the element a state with the initial value `init`.
  Expr begin(Expr load, Expr init) {
    const Expr var = declare_.var(load.dtype());
    loop_->carries.push_back({.var = var, .kind = program::CarryKind::state, .init = init});
    begun_[load.id()] = var;
    return var;
  }

  Program& program_;
  program::ExprPool& pool_;
  Declarations& declare_;
  Loop* loop_ = nullptr;
  std::set<std::int64_t> chosen_;        // buffers
  std::map<std::uint32_t, Expr> begun_;  // loads of elements that are states of the loop
};

}  // namespace

void promote_elements(Program& program, Declarations& declare) { Promoter(program, declare).run(); }

}  // namespace bitale::lowering
