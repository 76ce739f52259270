#include "link/arrangement.hpp"

#include <algorithm>
#include <cstdlib>

#include "program/accesses.hpp"

namespace bitale::link {

std::optional<Arrangement> arrange(const View& view, int ndim, std::int64_t itemsize) {
  Arrangement out{{}, view.data, Dims(std::span(view.shape, std::size_t(ndim)))};
  auto& order = out.layout.order;
  const auto stride_of = [&](const lowering::InputLayout::Axis& axis) { return std::abs(view.strides[axis.axis]); };
  for (int axis = 0; axis < ndim; ++axis) {
    const std::int64_t stride = view.strides[axis];
    if (view.shape[axis] == 1 || stride == 0) continue;
    if (stride % itemsize != 0) return {};
    order.push_back({std::int16_t(axis), stride < 0});
    if (stride < 0) out.data = static_cast<char*>(out.data) + (view.shape[axis] - 1) * stride;
  }
  std::stable_sort(order.begin(), order.end(), [&](auto& a, auto& b) { return stride_of(a) > stride_of(b); });
  if (order.empty()) return out;
  out.lengths.push_back(1);
  for (std::size_t k = 0; k + 1 < order.size(); ++k) {
    if (stride_of(order[k]) % stride_of(order[k + 1]) != 0) return {};
    out.lengths.push_back(stride_of(order[k]) / stride_of(order[k + 1]));
  }
  out.layout.unit = stride_of(order.back()) == itemsize;
  if (!out.layout.unit) out.lengths.push_back(stride_of(order.back()) / itemsize);
  return out;
}

// Inputs are read in passing if no loop reads an element repeatedly and no call is passed their memory.
std::vector<bool> read_in_passing(const program::Program& program) {
  std::vector<bool> in_passing(program.buffers.size(), true);
  const program::Accesses accesses(program.steps);
  for (auto& [buffer, accessed] : accesses.buffers())
    for (auto& access : accessed.list) {
      int loops = 0;
      for (int level = access.level; level >= 0; level = accesses.levels()[std::size_t(level)].outer) ++loops;
      const bool is_repeated = access.is_load && loops > program.buffers[std::size_t(buffer)].ndim();
      if (is_repeated || (!access.is_element() && access.kind != program::AccessKind::write))
        in_passing[std::size_t(buffer)] = false;
    }
  return in_passing;
}

}  // namespace bitale::link
