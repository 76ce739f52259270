#include "codegen/background.hpp"

#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "bitale/core/interruption.hpp"
#include "core/address_space.hpp"

namespace bitale::codegen {

namespace {

// How many threads are running, and the work that one of them takes in turn. Where the host does not wait for them, a
// function does that is called at exit: it is registered after LLVM was loaded, and so runs before the destructors of
// what loading has made.
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

  // Returns whether no thread takes work from the queue yet: the caller starts one.
  bool add(std::function<void()> work) {
    const std::lock_guard lock(mutex_);
    queue_.push_back(std::move(work));
    return !std::exchange(has_worker_, true);
  }
  // Empty where there is none, and the worker ends.
  std::function<void()> next() {
    const std::lock_guard lock(mutex_);
    if (queue_.empty()) {
      has_worker_ = false;
      return nullptr;
    }
    std::function<void()> work = std::move(queue_.front());
    queue_.pop_front();
    return work;
  }
  void drop() {
    std::deque<std::function<void()>> dropped;
    const std::lock_guard lock(mutex_);
    dropped.swap(queue_);
  }

 private:
  std::mutex mutex_;
  std::condition_variable idle_;
  std::deque<std::function<void()>> queue_;
  int count_ = 0;
  bool has_worker_ = false;
};

// Replaced in a child process, which has none of its parent's threads.
std::atomic<Running*> current{nullptr};

Running& running() {
  [[maybe_unused]] static const bool is_set_up = [] {
    current = new Running;
    pthread_atfork(nullptr, nullptr, [] { current = new Running; });
    std::atexit(end_background_work);
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

// Whether there is a thread that runs `body`, which ends with Running::end().
template <class Body>
bool begin_thread(Running& among, Body body) {
  if (!has_address_space(address_space_of_thread)) return false;
  among.begin();
  try {
    const SignalsBlocked blocked;
    std::thread(std::move(body)).detach();
    return true;
  } catch (const std::system_error&) {  // the system has no more threads
    among.end();
    return false;
  }
}

void work_in_turn(Running& among) {
  while (auto work = among.next()) {
    try {
      work();
    } catch (...) {  // nobody waits for it
    }
  }
}

}  // namespace

namespace {

// The C library destroys such objects of the thread that calls exit before it calls any function that is registered for
// the exit. Among these are destructors of LLVM's objects, which are made while it works.
struct EndsWork {
  ~EndsWork() {
    if (syscall(SYS_gettid) == getpid()) end_background_work();
  }
};

}  // namespace

void end_background_work_at_exit() { static thread_local EndsWork it; }

void run_later(std::function<void()> work) {
  end_background_work_at_exit();
  Running& among = running();
  if (!among.add(std::move(work))) return;
  const auto body = [&among] {
    work_in_turn(among);
    among.end();
  };
  if (!begin_thread(among, body)) work_in_turn(among);
}

void wait_for_background_work() {
  if (Running* const running = current.load()) running->wait();
}

void end_background_work() {
  if (Running* const running = current.load()) {
    running->drop();
    running->wait();
  }
}

std::string in_background(std::function<std::string()> work) {
  using namespace std::chrono_literals;
  const auto task = std::make_shared<Task>();
  task->work = std::move(work);
  Running& among = running();
  if (!begin_thread(among, [task, &among] { task->run(among); })) return task->work();
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
