// Receiver: where the results of a call go. Whoever calls brings the memory, so that results are written where they are
// wanted: a fresh Array, a NumPy array, a caller's own array.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bitale/core/view.hpp"

namespace bitale {

class Receiver {
 public:
  virtual ~Receiver() = default;
  // Memory for result `output`, C-contiguous; asked once per result. Never null, also where the result has
  // no elements: code takes null for memory that was not there. What it throws, the call throws.
  virtual void* place(int output, DType dtype, std::span<const std::int64_t> shape) = 0;
  // A result that is there already, contiguous. Gives the address where it is from now on.
  virtual void* receive(int output, Array value);
  // Once, before any memory is asked for: what the call reads, and whether it may take a while, so that others could go
  // on meanwhile.
  virtual void begin(std::span<const View>, bool /*is_long*/) {}

  // For code that runs on a device (core/resident.hpp). The Array behind an input, where it holds a Resident, of which
  // the View has no more than lengths, or is a shared variable's value, which may be kept on the device; else nullptr.
  virtual const Array* behind(int /*input*/) const { return nullptr; }
  // Such a shared variable's value as a Resident, for the next call.
  virtual void keep_input(int /*input*/, const Array&) {}
  // Whether receive() takes an Array that holds a Resident for this result.
  virtual bool may_stay(int /*output*/) const { return false; }
};

// Fresh Arrays.
class ArrayReceiver final : public Receiver {
 public:
  explicit ArrayReceiver(std::size_t count) { values_.reserve(count); }
  void* place(int output, DType dtype, std::span<const std::int64_t> shape) override;
  void* receive(int output, Array value) override;
  std::vector<Array> take() && { return std::move(values_); }

 private:
  Array& keep(int output, Array value);
  std::vector<Array> values_;
};

}  // namespace bitale
