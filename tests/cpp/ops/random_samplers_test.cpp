// The samplers of the counter-based stream as functions of their arguments: nan of nan, also where only the bits of a
// nan would say what is drawn, in native code as in the interpreter.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "bitale/bitale.hpp"
#include "ops/elemwise.hpp"
#include "ops/scalar_op.hpp"

using namespace bitale;

TEST_CASE("samplers give nan for nan in all linkers") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double ordinary[] = {0.7, 20, 0.4};
  for (const ScalarOp* op : scalar_ops()) {
    if (!op->name.starts_with("random_") || op->name == "random_below") continue;
    Variables inputs;
    for (int k = 0; k < op->arity; ++k) inputs.push_back(dvector());
    const Variable draw = apply_elemwise(op->name, inputs);
    for (const char* linker : {"vm", "jit", "c"}) {
      const Function f = function(inputs, {draw}, {.mode = Mode(linker, "fast_run")});
      for (int place = 0; place < op->arity; ++place)
        for (const double sign : {1.0, -1.0}) {
          std::vector<Array> values;
          for (int k = 0; k < op->arity; ++k)
            values.push_back(Array({ordinary[k], k == place ? std::copysign(nan, sign) : ordinary[k], ordinary[k]}));
          const Array got = f(values)[0];
          const double* x = got.data_as<double>();
          INFO(op->name << ", " << linker << ", argument " << place);
          CHECK(std::isnan(x[1]));
          CHECK(x[0] == x[2]);
          CHECK(!std::isnan(x[0]));
        }
    }
  }
}
