#include "link/arrangement.hpp"

#include <algorithm>
#include <cstdlib>

#include "program/steps.hpp"

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

namespace {

using program::Steps;

// Inputs are read in passing if no loop reads an element repeatedly and no call is passed their memory.
class Readers {
 public:
  explicit Readers(const program::Program& program) : program_(program), in_passing_(program.buffers.size(), true) {}

  std::vector<bool> run() {
    for (auto& step : program_.steps) inspect(step, 0);
    return std::move(in_passing_);
  }

 private:
  // `depth`: the number of loops around the step.
  void inspect(const program::Step& step, int depth) {
    program::ExprWalk walk;
    program::for_each_load(step, walk, [&](program::Expr load) {
      if (depth > program_.buffers[std::size_t(load.payload())].ndim()) needs_rows(load.payload());
    });
    program::for_each_access(step, [&](const program::Access& access) {
      if (access.reads() && !access.at) needs_rows(access.buffer);
    });
    const int inside = depth + (program::as_loop(step) != nullptr);
    program::for_each_body(step, [&](const Steps& body) {
      for (auto& inner : body) inspect(inner, inside);
    });
  }
  void needs_rows(std::int64_t buffer) { in_passing_[std::size_t(buffer)] = false; }

  const program::Program& program_;
  std::vector<bool> in_passing_;
};

}  // namespace

std::vector<bool> read_in_passing(const program::Program& program) { return Readers(program).run(); }

}  // namespace bitale::link
