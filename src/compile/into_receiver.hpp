// Results are written to memory that the caller provides: directly where that is safe, otherwise by way of a copy. It
// is safe if the memory is C-contiguous, the call doesn't read it, and nothing can fail after the first write to it.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "bitale/core/receiver.hpp"
#include "bitale/graph/type.hpp"

namespace bitale {

class IntoReceiver final : public Receiver {
 public:
  struct Call {
    std::span<const View> targets;                   // without data: the result goes to `others`
    std::span<const TensorType* const> input_types;  // of all inputs that are read
    std::span<const TensorType* const> output_types;
    bool writes_last;
    Receiver* others;
  };
  explicit IntoReceiver(const Call& call) : call_(call) {}

  // ValueError when two targets overlap.
  void begin(std::span<const View> inputs, bool is_long) override;
  // Throws a ShapeError when the target has another shape.
  void* allocate(int output, DType dtype, std::span<const std::int64_t> shape) override;
  void* receive(int output, Array value) override;
  // After the call has succeeded: copies are written to their targets.
  void finish();

 private:
  bool direct(const View& target, const TensorType& type) const;

  const Call call_;
  std::span<const View> inputs_;
  std::vector<std::pair<int, Array>> copies_;
};

}  // namespace bitale
