// Lowering: from a rewritten FunctionGraph to a loop Program. What every op declares becomes what is stored and what is
// inlined into its readers, which is fusion; loops over the same domain are joined; then passes change the Program.
// Their order is that of the tables in lower.cpp, and docs/design/lowering.md explains each stage.
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

// Where the result of a node is in the Program. Nodes that are inlined everywhere have no entry.
struct Maker {
  std::int64_t buffer = -1, var = -1;  // exactly one is valid
  Apply node;
};

struct Lowered {
  program::Program program;
  std::vector<Apply> callbacks;    // the node of each HostCall
  std::vector<Apply> check_nodes;  // the node that requested each Check
  std::vector<Maker> makers;       // in the order in which nodes write
};

// The memory layout of an input that is not C-contiguous. Axes of stride 0 or length 1 are left out.
struct InputLayout {
  struct Axis {
    std::int16_t axis;
    bool reversed;  // stored from its last element to its first
    bool operator==(const Axis&) const = default;
  };
  SmallVector<Axis, 4> order;  // by decreasing stride
  bool unit = true;            // the last axis of `order` has stride 1
  bool operator==(const InputLayout&) const = default;
};
// The buffer of an input with a layout has more axes than the input, so that it is formally C-contiguous. First come
// the axes of the input, always at index 0. Then, where `order` is not empty, comes one axis for its first axis; one
// for each pair of consecutive axes, as long as the ratio of their strides; and, unless `unit`, one as long as the
// stride of the last axis in elements. Its data begins at the lowest address.

// Accepts every graph: ops without native code become host calls. `layouts`, if given, has one entry for each input,
// which is empty for a C-contiguous input. `parallel`: calls may use several threads; the results are the same, bit by
// bit.
using InputLayouts = std::vector<std::optional<InputLayout>>;
// Observes the Program after each pass, which is named like its file: tests run the Program at these points. Only the
// last pass allocates buffers.
using PassObserver =
    std::function<void(std::string_view pass, const program::Program& program, std::span<const Apply> callbacks)>;
Lowered lower(const FunctionGraph& graph, const InputLayouts& layouts = {}, bool parallel = false,
              const PassObserver& observer = {});

}  // namespace bitale::lowering
