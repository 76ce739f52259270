#include "codegen/llvm/background.hpp"

#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "bitale/core/interruption.hpp"

namespace bitale::codegen {

namespace {

// How many pieces of work are running. Where the host does not wait for them, a function does that is called at exit:
// it is registered after LLVM was loaded, and so runs before the destructors of what loading has made.
class Running {
 public:
  void begin() {
    const std::lock_guard lock(mutex_);
    ++count_;
  }
  void end() {
    const std::lock_guard lock(mutex_);
    if (--count_ == 0) idle_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    idle_.wait(lock, [this] { return count_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable idle_;
  int count_ = 0;
};

// Replaced in a child process, which has none of its parent's threads.
std::atomic<Running*> current{nullptr};

Running& running() {
  [[maybe_unused]] static const bool is_set_up = [] {
    current = new Running;
    pthread_atfork(nullptr, nullptr, [] { current = new Running; });
    std::atexit(wait_for_background_work);
    return true;
  }();
  return *current.load();
}

struct Task {
  std::function<std::string()> work;
  std::mutex mutex;
  std::condition_variable changed;
  bool is_done = false;
  std::string result;
  std::exception_ptr error;

  void run(Running& among) {
    std::string made;
    std::exception_ptr thrown;
    try {
      made = work();
    } catch (...) {
      thrown = std::current_exception();
    }
    work = nullptr;  // what it owns goes while the process still waits for it
    {
      const std::lock_guard lock(mutex);
      result = std::move(made);
      error = std::move(thrown);
      is_done = true;
    }
    changed.notify_one();
    among.end();
  }
};

// Signals are left to the program's own threads.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

bool begin_task(const std::shared_ptr<Task>& task) {
  Running& among = running();
  among.begin();
  try {
    const SignalsBlocked blocked;
    std::thread([task, &among] { task->run(among); }).detach();
    return true;
  } catch (const std::system_error&) {  // the system has no more threads
    among.end();
    return false;
  }
}

}  // namespace

void wait_for_background_work() {
  if (Running* const running = current.load()) running->wait();
}

std::string in_background(std::function<std::string()> work) {
  using namespace std::chrono_literals;
  const auto task = std::make_shared<Task>();
  task->work = std::move(work);
  if (!begin_task(task)) return task->work();
  std::unique_lock lock(task->mutex);
  // By the system's clock: waiting by another one needs glibc 2.30, and packages are made for older ones.
  while (!task->changed.wait_until(lock, std::chrono::system_clock::now() + 20ms, [&] { return task->is_done; })) {
    lock.unlock();
    throw_if_interrupted();
    lock.lock();
  }
  if (task->error) std::rethrow_exception(task->error);
  return std::move(task->result);
}

}  // namespace bitale::codegen
