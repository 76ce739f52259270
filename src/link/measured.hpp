// The measurements of a Thunk that was linked for a profile, summed over its calls so far.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bitale/graph/variable.hpp"

namespace bitale::link {

// A part of a call that is timed separately: for native code a loop, a call of the runtime or of the host, or what
// happens between them; for the virtual machine a node.
struct MeasuredPart {
  std::string_view kind;                       // loop, branch, fill, call, perform, memory, scalars, node
  std::string text = {};                       // the steps, in the Program's text form
  std::vector<Apply> nodes = {};               // the nodes that it computes
  bool other_strides = false;                  // of the code for inputs with other strides
  bool counted = false;                        // whether the following fields are known
  double bytes = 0, flops64 = 0, flops32 = 0;  // moved and computed, over all calls: an estimate
  double steps = 0, trace_bytes = 0;           // of a loop with sequential steps (states), over all calls
  double seconds = 0;                          // over all calls
  std::int64_t calls = 0;
};

// A module that was compiled for inputs of particular lengths.
struct MeasuredModule {
  std::string lengths;
  double written = 0, compiled = 0, seconds = 0;  // in seconds; the last: of all calls
  std::int64_t calls = 0;
};

struct Measured {
  std::int64_t calls = 0;
  double seconds = 0;
  std::vector<MeasuredPart> parts = {};
  std::int64_t temporaries = 0, results = 0;  // bytes: the most that any call has held
  std::vector<MeasuredModule> modules = {};
  bool has_loops = false;  // whether parts are those of native code
};

}  // namespace bitale::link
