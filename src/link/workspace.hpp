// Workspace: the memory of one call of native code, reused between calls: addresses and lengths of all buffers, and
// blocks for temporaries. In the steady state a call allocates nothing but its results.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "bitale/core/array.hpp"

namespace bitale::link {

struct Workspace {
  std::vector<void*> data;
  std::vector<std::int64_t> lengths;
  std::vector<Array> blocks;  // one per workspace slot, grown when needed
  std::vector<Array> held;    // per buffer: what a host call brought
};

// Workspaces nobody uses at the moment. Thread-safe.
class WorkspacePool {
 public:
  WorkspacePool(std::size_t buffers, std::size_t lengths, std::size_t slots)
      : buffers_(buffers), lengths_(lengths), slots_(slots) {}
  ~WorkspacePool() { delete ready_.load(); }
  WorkspacePool(const WorkspacePool&) = delete;
  WorkspacePool& operator=(const WorkspacePool&) = delete;

  class Loan {
   public:
    explicit Loan(WorkspacePool& pool) : pool_(pool), workspace_(pool.take()) {}
    ~Loan() { pool_.give_back(std::move(workspace_)); }
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;
    Workspace& operator*() const { return *workspace_; }

   private:
    WorkspacePool& pool_;
    std::unique_ptr<Workspace> workspace_;
  };

 private:
  std::unique_ptr<Workspace> take();
  void give_back(std::unique_ptr<Workspace> workspace);

  const std::size_t buffers_, lengths_, slots_;
  std::atomic<Workspace*> ready_{nullptr};  // the usual single caller finds its workspace here, without a lock
  std::mutex mutex_;
  std::vector<std::unique_ptr<Workspace>> more_;
};

}  // namespace bitale::link
