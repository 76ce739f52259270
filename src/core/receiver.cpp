// Results as fresh Arrays, and the default for results that exist already.
#include "bitale/core/receiver.hpp"

#include <cstring>
#include <utility>

namespace bitale {

void* Receiver::receive(int output, Array value) {
  void* data = allocate(output, value.dtype(), {value.shape().data(), value.shape().size()});
  if (const auto bytes = std::size_t(value.nbytes())) std::memcpy(data, value.data(), bytes);
  return data;
}

// Results usually arrive in order: then no placeholder is created.
Array& ArrayReceiver::keep(int output, Array value) {
  const auto at = std::size_t(output);
  while (values_.size() < at) values_.emplace_back();
  if (values_.size() == at)
    values_.push_back(std::move(value));
  else
    values_[at] = std::move(value);
  return values_[at];
}

void* ArrayReceiver::allocate(int output, DType dtype, std::span<const std::int64_t> shape) {
  return keep(output, Array::empty(dtype, Dims(shape))).mutable_data();
}

void* ArrayReceiver::receive(int output, Array value) { return keep(output, std::move(value)).mutable_data(); }

}  // namespace bitale
