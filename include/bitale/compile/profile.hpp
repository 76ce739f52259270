// Profiles: the times of compiling a function, phase by phase, and of its calls, part by part. A function that was
// compiled with FunctionOptions::profile has one:
//
//   Function f = function({x}, y, {.profile = true});
//   f({values});
//   std::string text = profile_text(f.profile());
//
// Native code is timed by probes between the steps at the top of its Program, which cost some 30 ns each; a function
// without a profile has none of them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bitale/compile/function.hpp"

namespace bitale {

// Upper limits of the processor and its memory, for this number of threads. 0: unknown.
struct MachineLimits {
  double read_bandwidth = 0;  // bytes per second
  double flops = 0;           // operations on float64 per second; on float32 it is twice as many
  int threads = 1;
};
// Measured by functions of this library on first use, which takes a few tenths of a second and 128 MiB at most, and
// kept for the process: the best of some runs of a sum over an array of four times the caches, and of fused products
// and sums on data that the nearest caches hold. ValueError unless threads is from 1 to 1024; also what compiling
// raises.
const MachineLimits& machine_limits(int threads = 1);

struct Profile {
  // Times of compiling.
  struct Phase {
    std::string name;
    double seconds = 0;
    std::string note = {};
    std::vector<Phase> parts = {};
  };
  // A part of a call that is timed by itself. In native code: a loop, a fill, a call of the runtime (a matrix product),
  // a call of an op's perform, the allocation of memory for arrays, or the scalars between these. In the interpreter: a
  // node.
  struct Part {
    std::string kind;               // loop, fill, call, perform, memory, scalars, node
    std::string text = {};          // the steps, as the Program shows them; of a node its op
    std::vector<Apply> nodes = {};  // nodes of the graph after rewriting that it computes, wholly or in part
    bool other_strides = false;     // part of the code for inputs that are not C-contiguous
    std::int64_t calls = 0;
    double seconds = 0;  // over all calls, as are the following
    // Estimates from the Program, where `counted`: each element of an array is moved once, however often the part
    // accesses it again; operations are additions, products, divisions and roots of floats, where a fused product and
    // sum counts as two. Work inside functions of the C library is not counted.
    bool counted = false;
    double bytes = 0, flops64 = 0, flops32 = 0;
    double flops() const { return flops64 + flops32; }
    // For a loop with sequential steps, such as a scan's; else 0. Traces are the arrays in which each step stores its
    // row: the results of all steps that are requested, and what a gradient keeps.
    double steps = 0, trace_bytes = 0;
  };

  std::string name;  // of the function
  std::string linker;
  std::string code;  // where native code came from: "generated", "store" (the compiledir), "memory" (of this process)
  int threads = 1;
  Phase compiling;
  std::size_t nodes_before = 0, nodes_after = 0;  // of rewriting
  std::int64_t calls = 0;                         // successful calls only, as in all of the following
  double call_seconds = 0;                        // in calls of the function
  double linked_seconds = 0;                      // of these, in linked code
  std::vector<Part> parts = {};                   // in the order in which they run
  std::int64_t temporaries = 0, results = 0;      // bytes: the maximum over calls
  MachineLimits limits = {};                      // of native code
};

// The least time in which a machine with these limits could have done the counted work, divided by the time it took.
struct LimitShare {
  double memory = 0, arithmetic = 0;  // above 1 where data came from the caches
};
LimitShare share_of_limits(const Profile::Part& part, const MachineLimits& limits);

struct ProfileTextOptions {
  std::size_t max_rows = 20;  // of each table
  // Which sections, of function, compiling, parts, class, ops, nodes, memory, tips; none: all that are not empty.
  // ValueError for another.
  std::vector<std::string> sections = {};
};
std::string profile_text(const Profile& profile, const ProfileTextOptions& options = {});

// A self-contained page: bars whose widths are proportional to times, of compiling and of calls; a click on one shows
// what it stands for and makes it as wide as the page.
std::string profile_html(const Profile& profile);

// Writes the texts of functions that were compiled with a profile since the last time, including functions that were
// destroyed, to the flag profiling__destination, with profiling__n_ops rows to a table. Also done at the end of a
// process.
void print_profiles();

}  // namespace bitale
