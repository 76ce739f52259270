#include "link/workspace.hpp"

namespace bitale::link {

std::unique_ptr<Workspace> WorkspacePool::take() {
  if (Workspace* ready = ready_.exchange(nullptr, std::memory_order_acquire)) return std::unique_ptr<Workspace>(ready);
  {
    std::lock_guard lock(mutex_);
    if (!more_.empty()) {
      auto workspace = std::move(more_.back());
      more_.pop_back();
      return workspace;
    }
  }
  auto workspace = std::make_unique<Workspace>();
  workspace->data.resize(buffers_);
  workspace->lengths.resize(lengths_);
  workspace->blocks.resize(slots_);
  workspace->held.resize(buffers_);
  return workspace;
}

void WorkspacePool::give_back(std::unique_ptr<Workspace> workspace) {
  Workspace* expected = nullptr;
  if (ready_.compare_exchange_strong(expected, workspace.get(), std::memory_order_release)) {
    workspace.release();
    return;
  }
  std::lock_guard lock(mutex_);
  more_.push_back(std::move(workspace));
}

}  // namespace bitale::link
