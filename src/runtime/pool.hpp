// The pool of worker threads behind threads.hpp. It serves one job at a time: a caller who finds it busy does the work
// alone, so that many callers neither wait for each other nor take more threads than there are workers.
#pragma once

#include <atomic>
#include <cfenv>
#include <cstdint>

namespace bitale::runtime {

// Something to be done by several threads at once: each calls `run` once, with its number; the caller's is 0.
struct Job {
  void (*run)(void* context, int worker);
  void* context;
};

class WorkerPool {
 public:
  // Runs the job on this thread and, where they come in time, on up to `helpers` workers of the process's pool; returns
  // when all have left it. The job must be complete when `run` has returned for the caller and for all workers that
  // came. False, and nothing has run, when the pool is busy. Throws nothing: without memory or threads, fewer help.
  // Workers round as the caller does.
  static bool try_share(const Job& job, int helpers);

 private:
  // A child made by fork gets a new one, for its parent's workers don't live there. Never destroyed.
  static WorkerPool* instance();
  bool try_run(const Job& job, int helpers);
  void start_workers(int wanted);
  void work();
  int join();
  void leave();

  std::atomic_flag busy_ = ATOMIC_FLAG_INIT;
  int started_ = 0;             // workers; changed by who holds busy_
  bool can_start_ = true;       // the system has not refused a thread
  std::atomic<int> round_ = 0;  // counts jobs; workers sleep on it
  std::atomic<int> gate_ = 0;   // seats left for workers * 65536 + workers inside
  Job job_ = {};                // read only from inside, as is
  std::fenv_t rounding_ = {};   // how the caller rounds
};

}  // namespace bitale::runtime
