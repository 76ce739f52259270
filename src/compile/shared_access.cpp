// One table of the claims that are held and of those that wait, in order of arrival. It is locked only while claims are
// compared, never during a call.
#include "compile/shared_access.hpp"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <mutex>
#include <unordered_set>

#include "bitale/core/blocking.hpp"
#include "bitale/core/error.hpp"

namespace bitale {

namespace {

void make_set(std::vector<const Container*>& containers) {
  std::sort(containers.begin(), containers.end(), std::less<>());
  containers.erase(std::unique(containers.begin(), containers.end()), containers.end());
}

bool have_common(const std::vector<const Container*>& a, const std::vector<const Container*>& b) {
  auto i = a.begin(), j = b.begin();
  while (i != a.end() && j != b.end()) {
    if (*i == *j) return true;
    std::less<>()(*i, *j) ? ++i : ++j;
  }
  return false;
}

bool exclude_each_other(const SharedClaim& a, const SharedClaim& b) {
  return have_common(a.written, b.written) || have_common(a.written, b.read) || have_common(a.read, b.written);
}

}  // namespace

SharedClaim SharedClaim::of(std::vector<const Container*> containers, std::vector<const Container*> written) {
  make_set(containers);
  make_set(written);
  SharedClaim claim;
  std::set_difference(containers.begin(), containers.end(), written.begin(), written.end(),
                      std::back_inserter(claim.read), std::less<>());
  claim.written = std::move(written);
  return claim;
}

class SharedAccessTable {
 public:
  static SharedAccessTable& instance() {
    static SharedAccessTable& table = *new SharedAccessTable;  // threads may outlive static objects
    return table;
  }

  void acquire(SharedAccess& access) {
    std::unique_lock lock(mutex_);
    held_.reserve(held_.size() + 1);
    const bool is_nested =
        std::any_of(held_.begin(), held_.end(), [&](auto* one) { return is_same_thread(*one, access); });
    if (is_nested) refuse_second_update(access);
    if (is_free(access, is_nested)) return hold(access);
    if (is_nested) refuse_cycle(access);
    waiting_.push_back(&access);
    while (!is_free(access, is_nested)) {
      const std::uint32_t before = released_.load();
      lock.unlock();
      while_blocked([&] { released_.wait(before); });
      lock.lock();
    }
    std::erase(waiting_, &access);
    hold(access);
  }

  void release(SharedAccess& access) {
    const std::lock_guard lock(mutex_);
    unhold(access);
  }

  void begin_commit() {
    mutex_.lock();
    commits_.fetch_add(1);
  }
  void end_commit(SharedAccess& access) {
    commits_.fetch_add(1);
    unhold(access);
    mutex_.unlock();
  }

  // Runs read() such that no commit happens meanwhile. It may run several times; forget() undoes its effects.
  template <class Read, class Forget>
  void between_commits(Read read, Forget forget) {
    for (int attempt = 0; attempt < 4; ++attempt) {
      const std::uint64_t before = commits_.load();
      read();
      if (before % 2 == 0 && commits_.load() == before) return;
      forget();
    }
    const std::lock_guard lock(mutex_);
    read();
  }

 private:
  SharedAccessTable() {
    // A child process has only the thread that forked: claims of other threads would never be released there.
    pthread_atfork([] { instance().mutex_.lock(); }, [] { instance().mutex_.unlock(); },
                   [] {
                     auto& table = instance();
                     const auto self = std::this_thread::get_id();
                     std::erase_if(table.held_, [&](auto* one) { return one->thread_ != self; });
                     table.waiting_.clear();
                     table.mutex_.unlock();
                   });
  }

  static bool is_same_thread(const SharedAccess& a, const SharedAccess& b) { return a.thread_ == b.thread_; }

  // Whether `access` has to wait for `other`, which is held or arrived first. Enclosing calls of the same thread can't
  // be waited for.
  static bool waits_for(const SharedAccess& access, const SharedAccess& other) {
    return !is_same_thread(access, other) && exclude_each_other(access.claim_, other.claim_);
  }

  // A waiting access doesn't overtake others that wait for the same variables; a call inside a call does, since they
  // may wait for its outer call.
  bool is_free(const SharedAccess& access, bool is_nested) const {
    for (auto* one : held_)
      if (waits_for(access, *one)) return false;
    for (auto* one : waiting_) {
      if (is_nested || one == &access) return true;
      if (waits_for(access, *one)) return false;
    }
    return true;
  }

  void hold(SharedAccess& access) {
    held_.push_back(&access);
    access.is_held_ = true;
  }

  void unhold(SharedAccess& access) {
    std::erase(held_, &access);
    access.is_held_ = false;
    if (waiting_.empty()) return;
    released_.fetch_add(1);
    released_.notify_all();
  }

  void refuse_second_update(const SharedAccess& access) const {
    for (auto* one : held_)
      if (is_same_thread(*one, access) && have_common(one->claim_.written, access.claim_.written))
        throw UpdateConflictError(
            "a shared variable is changed by a call that was made inside a call which updates it: the change would "
            "be lost when the outer call stores its own value");
  }

  // Only a call inside a call waits while it holds something, so a cycle is always closed by the last such call that
  // starts to wait.
  void refuse_cycle(const SharedAccess& access) const {
    std::vector<const SharedAccess*> pending{&access};
    std::unordered_set<std::thread::id> seen;
    while (!pending.empty()) {
      const SharedAccess& waiter = *pending.back();
      pending.pop_back();
      for (auto* holder : held_) {
        if (!waits_for(waiter, *holder) || !seen.insert(holder->thread_).second) continue;
        if (is_same_thread(*holder, access))
          throw UpdateConflictError(
              "deadlock: a call inside a call waits for shared variables that another call holds, which waits for "
              "those of the outer call");
        for (auto* one : waiting_)
          if (is_same_thread(*one, *holder)) pending.push_back(one);
      }
    }
  }

  std::mutex mutex_;
  std::vector<SharedAccess*> held_, waiting_;
  std::atomic<std::uint32_t> released_{0};  // waiters wait for it to change
  std::atomic<std::uint64_t> commits_{0};   // odd: a commit is in progress
};

SharedAccess::SharedAccess(const SharedClaim& claim) : claim_(claim) { SharedAccessTable::instance().acquire(*this); }

SharedAccess::~SharedAccess() {
  if (is_held_) SharedAccessTable::instance().release(*this);
}

void SharedAccess::begin_commit() { SharedAccessTable::instance().begin_commit(); }
void SharedAccess::end_commit() { SharedAccessTable::instance().end_commit(*this); }

void append_snapshot(const std::vector<Ref<const Container>>& containers, std::vector<Array>& values) {
  const std::size_t start = values.size();
  const auto read = [&] {
    for (auto& container : containers) values.push_back(container->held());
  };
  if (containers.size() < 2) return read();
  SharedAccessTable::instance().between_commits(read, [&] { values.resize(start); });
}

}  // namespace bitale
