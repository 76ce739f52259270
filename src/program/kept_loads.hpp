// KeptLoads: how long an emitter may keep the value of an expression. It computes an expression once, at the level at
// which it is known, and uses that value from then on; the value of one that loads from memory ends with the first step
// that writes there. Only buffers that are written after they have been read need attention, which most are not.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "program/program.hpp"

namespace bitale::program {

class KeptLoads {
  using Mask = std::uint64_t;  // of watched buffers; those with equal numbers modulo the number of bits share one
  struct Kept {
    Expr expr;
    Mask sources;  // from which it loads
  };

 public:
  KeptLoads() = default;
  explicit KeptLoads(const Program& program);

  // Notes that the value of the expression is kept from here on.
  void keep(Expr expr) {
    if (!watched_.empty()) note(expr);
  }
  // Returns the kept expressions whose values end with the step, because it, or a step in it, writes to a buffer from
  // which they load. They are no longer kept.
  std::vector<Expr> ended_by(const Step& step);

  // Between these two, code is emitted that cannot use what is kept so far: that of another function.
  std::vector<Kept> suspend() { return std::exchange(kept_, {}); }
  void resume(std::vector<Kept> kept) { kept_ = std::move(kept); }

 private:
  void note(Expr expr);
  Mask sources_of(Expr root);

  std::unordered_map<std::int64_t, Mask> watched_;  // buffers
  std::unordered_map<std::uint32_t, Mask> sources_;
  std::vector<Kept> kept_;
};

}  // namespace bitale::program
