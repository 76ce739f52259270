// How wide the vectors of native code are on this machine, found by a measurement. Where a processor has several
// widths, its longest vectors are taken unless a measurement says otherwise: names of processors, by which compilers
// choose, tell little on virtual machines.
#pragma once

#include <vector>

namespace bitale {

// A width, and nanoseconds of processor time that loops took with it for an element of float64.
struct WidthTimes {
  int bits = 0;
  double elementary = 0;  // exp(-x^2) tanh(y), in the nearest caches
  double plain = 0;       // x y + x
};

struct VectorWidth {
  int bits = 0;                     // what is best here
  std::vector<WidthTimes> times{};  // of all widths that were compared, the widest first; none where there is one width
  bool is_kept = false;             // in the compile directory, for processes to come
};

// Compares the widths, in some hundredths of a second of processor time; the widest wins unless another is faster by a
// twentieth. From now on the flag target=native means that width, in this process and in those that find the record in
// the compile directory: functions that are compiled again may add in another order. What compiling raises.
VectorWidth measure_vector_width();

}  // namespace bitale
