#include "runtime/added_variable.hpp"

#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <deque>
#include <mutex>
#include <vector>

namespace bitale::runtime {

namespace {

// Never freed, since other threads may be reading it.
char** kept_array(std::size_t length) {
  static auto& mutex = *new std::mutex;
  static auto& arrays = *new std::deque<std::vector<char*>>;
  const std::lock_guard lock(mutex);
  return arrays.emplace_back(length).data();
}

}  // namespace

AddedVariable::AddedVariable(const char* assignment) : before_(std::atomic_ref(environ).load()) {
  std::size_t count = 0;
  while (before_ && before_[count]) ++count;
  with_ = kept_array(count + 2);
  for (std::size_t i = 0; i < count; ++i) with_[i] = before_[i];
  with_[count] = const_cast<char*>(assignment);
  with_[count + 1] = nullptr;
  std::atomic_ref(environ).store(with_);
}

AddedVariable::~AddedVariable() {
  char** mine = with_;
  std::atomic_ref(environ).compare_exchange_strong(mine, before_);
}

}  // namespace bitale::runtime
