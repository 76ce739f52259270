// Results of a call as NumPy arrays that the compiled code writes into. A long call runs without the interpreter lock.
// Its results are allocated by the library, since allocation by NumPy needs the lock; so are large ones, whose memory
// the library keeps for the next call when they are freed.
#pragma once

#include <nanobind/nanobind.h>

#include <utility>
#include <vector>

#include "bitale/core/receiver.hpp"
#include "bitale/core/small_vector.hpp"
#include "call_arguments.hpp"

namespace bitale::python {

class NumpyReceiver final : public Receiver {
 public:
  explicit NumpyReceiver(std::size_t count) : results_(count, nullptr) {}
  // `stays`: results are arrays of JAX where possible.
  NumpyReceiver(std::size_t count, const CallArguments& arguments, bool stays)
      : results_(count, nullptr), arguments_(&arguments), stays_(stays) {}
  ~NumpyReceiver() override;
  NumpyReceiver(const NumpyReceiver&) = delete;
  NumpyReceiver& operator=(const NumpyReceiver&) = delete;

  void* allocate(int output, DType dtype, std::span<const std::int64_t> shape) override;
  void* receive(int output, Array value) override;
  void begin(std::span<const View> inputs, bool is_long) override;

  const Array* behind(int input) const override { return arguments_ ? arguments_->behind(input) : nullptr; }
  bool may_stay(int) const override { return stays_; }

  // To be called after the call: reacquires the lock. Then each result may be taken once.
  void finish();
  PyObject* take(std::size_t output) { return std::exchange(results_[output], nullptr); }

 private:
  void* keep(int output, Array value);

  SmallVector<PyObject*, 8> results_;
  std::vector<std::pair<int, Array>> arrays_;  // results allocated without the lock, or large ones
  PyThreadState* released_ = nullptr;
  const CallArguments* const arguments_ = nullptr;
  const bool stays_ = false;
};

}  // namespace bitale::python
