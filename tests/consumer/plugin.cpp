// A plugin: a library that a program opens while it runs. It registers an op with native code and a rule about it.
#include <bitale/ops/registry.hpp>
#include <bitale/rewriting/rules.hpp>

#include "smooth.hpp"

namespace {

std::vector<Sample> samples() {
  return {{.node = smooth(vector("x"), 2).owner(), .values = {Array{1., -2., 4., 0.5}}, .note = "twice"}};
}
BITALE_REGISTER_OP(Smooth, "The mean of each element, twice, and its neighbours.", samples);

const rewriting::RegisterRules rules{
    "smooth", [](rewriting::Rules& r) {
      const Variable v = vector("v");
      r.equation("smooth_of_neg", smooth(neg(v), 2), neg(smooth(v, 2))).tags(rewriting::specialize);
    }};

}  // namespace
