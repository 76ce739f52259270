// Lowering: from a rewritten FunctionGraph to a loop Program. The road, in the order it is travelled:
//   define   every op says what its outputs are (element rules, scans, calls; definitions.cpp, scan.cpp, calls.cpp)
//   choose   what is stored; all else is inlined into its readers, which is fusion (choose.cpp)
//   compute  the expressions of what is stored (compute.cpp)
//   nest     loops over the same domain are joined, producers before readers (nest.cpp)
//   forward  values stored and read in the same place stay scalars; unread stores vanish (forward.cpp)
//   narrow   temporaries used row by row become rows (narrow.cpp)
//   promote  small buffers of serial loops become variables (promote_elements.cpp)
//   collapse loops over rows and columns become one; tile: or go through tiles (collapse.cpp, tile.cpp)
//   vectorize    innermost loops run as lanes (vectorize.cpp)
//   parallelize  loops run in chunks, by several threads (parallelize.cpp)
//   memory   temporaries get places in one workspace (memory.cpp)
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bitale/core/small_vector.hpp"
#include "bitale/graph/function_graph.hpp"
#include "program/program.hpp"

namespace bitale::lowering {

// What a node's result is in the Program; of what is inlined everywhere there is nothing to tell.
struct Maker {
  std::int64_t buffer = -1, var = -1;  // one of them
  Apply node;
};

struct Lowered {
  program::Program program;
  std::vector<Apply> callbacks;    // the node of each HostCall
  std::vector<Apply> check_nodes;  // the node that asked for each Check
  std::vector<Maker> makers;       // in the order in which nodes write
};

// How the elements of an input lie that are not C-contiguous. Axes of stride 0 or length 1 are left out.
struct InputLayout {
  struct Axis {
    std::int16_t axis;
    bool reversed;  // counted from its end
    bool operator==(const Axis&) const = default;
  };
  SmallVector<Axis, 4> order;  // the largest stride first
  bool unit = true;            // neighbours along the last of `order` are neighbours in memory
  bool operator==(const InputLayout&) const = default;
};
// The buffer of an input with a layout has more axes than the input, so that it is, formally, C-contiguous: first those
// of the input, at index 0; then, where `order` isn't empty, one more for its first axis, and one as long as the ratio
// of the strides of each of its axes and the next (the last one's stride in elements, unless `unit`). Its data begins
// at the lowest address.

// Never refuses: ops without native code become host calls. `layouts`, where given: for each input, or none for rows.
// `parallel`: calls may use several threads. The results are the same, bit by bit.
using InputLayouts = std::vector<std::optional<InputLayout>>;
// Sees the Program after each pass, named as its file: tests run it. Buffers are allocated by the last pass only.
using PassObserver =
    std::function<void(std::string_view pass, const program::Program& program, std::span<const Apply> callbacks)>;
Lowered lower(const FunctionGraph& graph, const InputLayouts& layouts = {}, bool parallel = false,
              const PassObserver& observer = {});

}  // namespace bitale::lowering
