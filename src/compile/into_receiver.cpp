#include "compile/into_receiver.hpp"

#include <algorithm>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "core/extent.hpp"

namespace bitale {

namespace {

Extent extent_of(const View& view, const TensorType& type) {
  return extent_of(view, type.ndim(), std::int64_t(itemsize(type.dtype)));
}

}  // namespace

void IntoReceiver::begin(std::span<const View> inputs, bool is_long) {
  inputs_ = inputs;
  for (std::size_t i = 0; i < call_.targets.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (call_.targets[i].data && call_.targets[j].data &&
          extent_of(call_.targets[i], *call_.output_types[i])
              .overlaps(extent_of(call_.targets[j], *call_.output_types[j])))
        throw ValueError(cat("outputs ", j, " and ", i, " are given overlapping memory to be written to"));
  if (call_.others) call_.others->begin(inputs, is_long);
}

bool IntoReceiver::direct(const View& target, const TensorType& type) const {
  if (!call_.writes_last || !is_contiguous(target, type.ndim(), std::int64_t(itemsize(type.dtype)))) return false;
  if (reinterpret_cast<std::uintptr_t>(target.data) % itemsize(type.dtype) != 0) return false;
  const Extent extent = extent_of(target, type);
  for (std::size_t i = 0; i < inputs_.size(); ++i)
    if (extent.overlaps(extent_of(inputs_[i], *call_.input_types[i]))) return false;
  return true;
}

void* IntoReceiver::allocate(int output, DType dtype, std::span<const std::int64_t> shape) {
  const View& target = call_.targets[std::size_t(output)];
  if (!target.data) return call_.others->allocate(output, dtype, shape);
  if (!std::equal(shape.begin(), shape.end(), target.shape))
    throw ShapeError(cat("output ", output, " has the shape ", tuple_text(shape), ", the memory given for it ",
                         tuple_text(std::span(target.shape, shape.size()))));
  if (direct(target, *call_.output_types[std::size_t(output)])) return target.data;
  copies_.emplace_back(output, Array::empty(dtype, Dims(shape)));
  return copies_.back().second.mutable_data();
}

void* IntoReceiver::receive(int output, Array value) {
  if (!call_.targets[std::size_t(output)].data) return call_.others->receive(output, std::move(value));
  return Receiver::receive(output, std::move(value));
}

void IntoReceiver::finish() {
  for (auto& [output, value] : copies_) {
    const TensorType& type = *call_.output_types[std::size_t(output)];
    const View& target = call_.targets[std::size_t(output)];
    const auto rank = std::size_t(type.ndim());
    Array::borrow(target.data, type.dtype, Dims(std::span(target.shape, rank)), Dims(std::span(target.strides, rank)),
                  nullptr)
        .assign(value);
  }
}

}  // namespace bitale
