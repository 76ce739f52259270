// NodeProfiler measures the time of each node of a graph whose nodes run one by one, and the memory that values hold.
// Calls may come from many threads: each call measures separately and is added to the totals when it has succeeded.
#pragma once

#include <chrono>
#include <mutex>
#include <span>
#include <vector>

#include "bitale/core/array.hpp"
#include "graph/steps_made.hpp"
#include "link/measured.hpp"

namespace bitale::link {

class NodeProfiler {
 public:
  using Index = std::uint32_t;
  explicit NodeProfiler(std::vector<Apply> order) : order_(std::move(order)), totals_(order_.size()) {}
  Measured measured() const;

  class Call {
   public:
    // A node that has run: the cells it has read and written, and their values.
    struct Node {
      Index number;
      std::span<const Index> in, out;
      std::span<const Array> inputs, outputs;
    };
    Call(NodeProfiler& profiler, std::size_t cell_count);
    void begin_node() { node_began_ = Clock::now(); }
    // `is_dead`: the cell has no remaining reader.
    template <class IsDead>
    void end_node(const Node& node, IsDead&& is_dead) {
      note(node);
      for (std::size_t k = 0; k < node.in.size(); ++k)
        if (is_dead(node.in[k])) inherit(node, k);
      for (auto cell : node.out)
        if (is_dead(cell)) release(cell);
    }
    void succeed(std::span<const Array> results);

   private:
    using Clock = std::chrono::steady_clock;
    void note(const Node& node);
    void inherit(const Node& node, std::size_t input);
    void release(Index cell);

    NodeProfiler& profiler_;
    Clock::time_point began_, node_began_;
    struct Passed {
      Index number;
      double seconds;
      StepsMade steps;
    };
    std::vector<Passed> passed_;       // the nodes that have run so far
    std::vector<std::int64_t> bytes_;  // per cell: the size of its memory, 0 if another cell owns it
    std::int64_t held_ = 0, max_held_ = 0;
  };

 private:
  std::vector<Apply> order_;
  mutable std::mutex mutex_;
  struct Total {
    double seconds = 0;
    std::int64_t calls = 0;
    StepsMade steps;
  };
  std::vector<Total> totals_;  // per node
  Measured calls_;
};

}  // namespace bitale::link
