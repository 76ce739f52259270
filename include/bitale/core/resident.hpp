// Resident: a value that is on a device, until somebody wants to see it. An Array may hold one in place of numbers
// (Array::holding); only shared variables, and calls of a linker that runs on devices, have such Arrays.
#pragma once

#include <utility>

#include "bitale/core/array.hpp"

namespace bitale {

class Resident : public HostObject {
 public:
  Resident(DType dtype, Dims shape)
      : dtype_(dtype), shape_(std::move(shape)), strides_(contiguous_strides(shape_, itemsize(dtype))) {}
  DType dtype() const { return dtype_; }
  const Dims& shape() const { return shape_; }
  const Dims& strides() const { return strides_; }  // that a copy will have
  // A copy of it. From any thread.
  virtual Array fetch() const = 0;
  std::string str() const override { return "<array on a device>"; }

 private:
  const DType dtype_;
  const Dims shape_, strides_;
};

// What the Array holds, if it is a Resident.
inline const Resident* resident_in(const Array& array) { return dynamic_cast<const Resident*>(array.object()); }

}  // namespace bitale
