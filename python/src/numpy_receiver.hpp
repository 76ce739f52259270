// Results of a call as NumPy arrays that the compiled code writes into. A long call runs without the interpreter lock;
// its results are made of the library's memory, since NumPy's needs the lock; and so are large ones, which the library
// keeps for the next call when they are freed.
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
  // `stays`: results are arrays of JAX where they can be.
  NumpyReceiver(std::size_t count, const CallArguments& arguments, bool stays)
      : results_(count, nullptr), arguments_(&arguments), stays_(stays) {}
  ~NumpyReceiver() override;
  NumpyReceiver(const NumpyReceiver&) = delete;
  NumpyReceiver& operator=(const NumpyReceiver&) = delete;

  void* place(int output, DType dtype, std::span<const std::int64_t> shape) override;
  void* receive(int output, Array value) override;
  void begin(std::span<const View> inputs, bool is_long) override;

  const Array* behind(int input) const override { return arguments_ ? arguments_->behind(input) : nullptr; }
  bool may_stay(int) const override { return stays_; }

  // After the call: takes the lock back. Then each result may be taken once.
  void finish();
  PyObject* take(std::size_t output) { return std::exchange(results_[output], nullptr); }

 private:
  void* keep(int output, Array value);

  SmallVector<PyObject*, 8> results_;
  std::vector<std::pair<int, Array>> arrays_;  // what came without the lock, or large
  PyThreadState* released_ = nullptr;
  const CallArguments* const arguments_ = nullptr;
  const bool stays_ = false;
};

}  // namespace bitale::python
