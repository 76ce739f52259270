// Ops that change cotangents on their way back, such as by clipping them, and pass tangents on as they are: for them
// forward mode is no other way to the same derivatives.
#pragma once

namespace bitale {

class ChangesCotangents {
 protected:
  ~ChangesCotangents() = default;
};

}  // namespace bitale
