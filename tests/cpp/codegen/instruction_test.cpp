// Operations for which AVX-512 has one instruction are recognized within other expressions.
#include <doctest/doctest.h>

#include "bitale/compile/function.hpp"
#include "bitale/ops/ops.hpp"
#include "codegen/target.hpp"

using namespace bitale;

TEST_CASE("a sum of exponentials scales them by one instruction where there is one") {
  auto x = vector("x");
  const std::string text = function({x}, {sum(exp(x))}).dprint("llvm");
  CHECK((text.find("scalef") != std::string::npos) == (codegen::this_target().avx_512));
}
