// Receiver: provides the memory of a call's results. The caller implements it, so that results are written directly to
// their destination: a fresh Array, a NumPy array, a caller's own array.
#pragma once

#include "bitale/core/language.hpp"

#include <cstdint>
#include <span>
#include <vector>

#include "bitale/core/view.hpp"

namespace bitale {

class Receiver {
 public:
  virtual ~Receiver() = default;
  // Memory for result `output`, C-contiguous; requested once per result. Never null, even where the result has no
  // elements: code interprets null as missing memory. An exception that it throws propagates out of the call.
  virtual void* allocate(int output, DType dtype, std::span<const std::int64_t> shape) = 0;
  // Takes a contiguous result that exists already. Returns the address at which it is stored from now on.
  virtual void* receive(int output, Array value);
  // Called once, before any memory is requested, with the views that the call reads. `is_long`: the call may take long,
  // so that other threads could run meanwhile.
  virtual void begin(std::span<const View>, bool /*is_long*/) {}

  // For code that runs on a device (core/resident.hpp). Returns the Array behind an input if it holds a Resident (the
  // View then has no more than lengths), or if it is a shared variable's value that may be kept on the device; else
  // nullptr.
  virtual const Array* behind(int /*input*/) const { return nullptr; }
  // Keeps such a shared variable's value as a Resident, for the next call.
  virtual void keep_input(int /*input*/, const Array&) {}
  // Whether receive() accepts an Array that holds a Resident for this result.
  virtual bool may_stay(int /*output*/) const { return false; }
};

// Receives results as fresh Arrays.
class ArrayReceiver final : public Receiver {
 public:
  explicit ArrayReceiver(std::size_t count) { values_.reserve(count); }
  void* allocate(int output, DType dtype, std::span<const std::int64_t> shape) override;
  void* receive(int output, Array value) override;
  std::vector<Array> take() && { return std::move(values_); }

 private:
  Array& keep(int output, Array value);
  std::vector<Array> values_;
};

}  // namespace bitale
