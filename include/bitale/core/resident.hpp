// Resident: a value that is kept on a device until the host needs to read it. An Array may hold one in place of numbers
// (Array::holding); only shared variables, and calls of a linker that runs on devices, use such Arrays.
#pragma once

#include "bitale/core/language.hpp"

#include <atomic>
#include <cstdint>
#include <utility>

#include "bitale/core/array.hpp"

namespace bitale {

class Resident : public HostObject {
 public:
  Resident(DType dtype, Dims shape)
      : dtype_(dtype), shape_(std::move(shape)), strides_(contiguous_strides(shape_, itemsize(dtype))) {}
  DType dtype() const { return dtype_; }
  const Dims& shape() const { return shape_; }
  const Dims& strides() const { return strides_; }  // those of a fetched copy
  // Returns a copy of the value on the host. Callable from any thread.
  virtual Array fetch() const = 0;
  // Whether all elements, integers, are in least..end - 1. Asked at every call, and computed once for a value.
  virtual bool is_within(std::int64_t least, std::int64_t end) const = 0;
  // Takes over the value of another Resident of the same dtype and shape.
  virtual void become(const Resident& other) const = 0;
  std::string str() const override { return "<array on a device>"; }

  // Readers hold it while they read. A call that computes the next value may take it exclusively, and then write into
  // its memory; until the call gives it back or replaces it, others wait.
  bool hold() const;  // false where it is taken or replaced
  void unhold() const { state_.fetch_sub(1); }
  bool take() const;  // false where it is held, taken or replaced
  void give_back() const;
  void replace() const;  // there is a newer value
  void wait_while_taken() const;

 private:
  static constexpr int taken = -1, replaced = -2;
  mutable std::atomic<int> state_{0};  // the number of holders, or one of those constants
  const DType dtype_;
  const Dims shape_, strides_;
};

// The Resident that the Array holds, or nullptr.
inline const Resident* resident_in(const Array& array) { return dynamic_cast<const Resident*>(array.object()); }

}  // namespace bitale
