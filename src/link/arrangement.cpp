#include "link/arrangement.hpp"

#include <algorithm>
#include <cstdlib>

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

class Readers {
 public:
  explicit Readers(const program::Program& program) : program_(program), in_passing_(program.buffers.size(), true) {}

  std::vector<bool> run() {
    walk(program_.steps, 0);
    return std::move(in_passing_);
  }

 private:
  void walk(const Steps& steps, int depth) {
    for (auto& step : steps) std::visit([&](auto& what) { look_at(what, depth); }, step.what);
  }
  void read(program::Expr value, int depth) {
    program::ExprWalk()(value, [&](program::Expr expr) {
      if (expr.code() != program::Code::load) return;
      if (depth > program_.buffers[std::size_t(expr.payload())].ndim()) needs_rows(expr.payload());
    });
  }
  void needs_rows(std::int64_t buffer) { in_passing_[std::size_t(buffer)] = false; }

  void look_at(const program::Loop& loop, int depth) { walk(loop.body, depth + 1); }
  void look_at(const program::Store& step, int depth) { read(step.value, depth); }
  void look_at(const program::Accumulate& step, int depth) { read(step.value, depth); }
  void look_at(const program::Let& step, int depth) { read(step.value, depth); }
  void look_at(const program::Update& step, int depth) { read(step.value, depth); }
  void look_at(const program::Call& step, int) {
    for (auto& argument : step.arguments)
      if (auto* buffer = std::get_if<program::BufferArgument>(&argument)) needs_rows(buffer->buffer);
  }
  void look_at(const program::HostCall& step, int) {
    for (auto buffer : step.inputs) needs_rows(buffer);
  }
  template <class Other>
  void look_at(const Other&, int) {}

  const program::Program& program_;
  std::vector<bool> in_passing_;
};

}  // namespace

std::vector<bool> read_in_passing(const program::Program& program) { return Readers(program).run(); }

}  // namespace bitale::link
