// The width of the vectors of native code on this machine, found by a measurement. Where a processor has several
// widths, its longest vectors are used unless a measurement decides otherwise: names of processors, by which compilers
// choose, tell little on virtual machines.
#pragma once

#include <vector>

namespace bitale {

// A width, and the nanoseconds of processor time per float64 element that loops took with it.
struct WidthTimes {
  int bits = 0;
  double elementary = 0;  // exp(-x^2) tanh(y), in the nearest caches
  double plain = 0;       // x y + x
};

struct VectorWidth {
  int bits = 0;                     // the best width here
  std::vector<WidthTimes> times{};  // of all compared widths, the widest first; none where there is one width
  bool is_kept = false;             // stored in the compile directory, for later processes
};

// Compares the widths, in some hundredths of a second of processor time; the widest wins unless another is faster by a
// twentieth. From now on the flag target=native means that width, in this process and in those that find the record in
// the compile directory: functions that are compiled again may add in another order. Raises what compiling raises.
VectorWidth measure_vector_width();

}  // namespace bitale
