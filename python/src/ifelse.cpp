// ifelse; bitale/ifelse.py distinguishes single values from lists.
#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include "arguments.hpp"
#include "bind.hpp"
#include "bitale/ops/ifelse.hpp"
#include "define.hpp"

namespace bitale::python {

void bind_ifelse(nb::module_& m) {
  m.def(
      "ifelse_of_lists",
      [](const Like& condition, const std::vector<Like>& then_branch, const std::vector<Like>& else_branch) {
        Variables if_true, if_false;
        for (auto& each : then_branch) if_true.push_back(as_variable(each));
        for (auto& each : else_branch) if_false.push_back(as_variable(each));
        return ifelse(as_variable(condition), if_true, if_false);
      },
      "condition"_a, "then_branch"_a, "else_branch"_a, nb::call_guard<AtCaller>());
}

}  // namespace bitale::python
