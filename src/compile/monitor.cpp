// MonitorMode: a wrapper composed of two functions.
#include "bitale/compile/monitor.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "bitale/core/text.hpp"

namespace bitale {

namespace {

bool has_nan(const Array& value) {
  if (is_complex(value.dtype())) return has_nan(value.as_pairs());
  if (!is_float(value.dtype())) return false;
  const Array wide = value.astype(DType::Float64).contiguous();
  const double* data = wide.data_as<double>();
  return std::any_of(data, data + wide.size(), [](double each) { return std::isnan(each); });
}

std::string values_text(std::span<const Array> values) {
  std::vector<std::string> texts;
  for (auto& value : values) texts.push_back(value.repr());
  return cat("[", join(texts, ", "), "]");
}

}  // namespace

Linker monitor_linker(NodeWrapper before, NodeWrapper after, std::string_view way) {
  return wrap_linker({std::string(way)}, [before = std::move(before), after = std::move(after)](NodeStep& step) {
    if (before) before(step);
    step.run();
    if (after) after(step);
  });
}

Mode monitor_mode(NodeWrapper before, NodeWrapper after, std::string optimizer) {
  return Mode(monitor_linker(std::move(before), std::move(after)), std::move(optimizer));
}

void detect_nan(NodeStep& step) {
  const auto outputs = step.outputs();
  if (std::none_of(outputs.begin(), outputs.end(), has_nan)) return;
  std::vector<std::string> names;
  for (auto& input : step.node.inputs()) names.push_back(input.str());
  std::fprintf(stderr, "*** NaN detected ***\n%s(%s)\nInputs : %s\nOutputs: %s\n", step.node.op().label().c_str(),
               join(names, ", ").c_str(), values_text(step.inputs).c_str(), values_text(outputs).c_str());
}

}  // namespace bitale
