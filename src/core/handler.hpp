// A function that the program may replace while others call it: callers share ownership of the one that they got.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

namespace bitale {

template <class Function>
class Handler {
 public:
  std::shared_ptr<const Function> get() const {
    std::lock_guard lock(mutex_);
    return function_;
  }
  void set(Function function) {
    auto next = function ? std::make_shared<const Function>(std::move(function)) : nullptr;
    std::lock_guard lock(mutex_);
    std::swap(function_, next);
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const Function> function_;
};

}  // namespace bitale
