// Pool: objects that are expensive to create, each used by one call at a time. Thread-safe; the usual single caller
// gets its object without a lock.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace bitale {

template <class T>
class Pool {
 public:
  using Make = std::function<std::unique_ptr<T>()>;
  explicit Pool(Make make) : make_(std::move(make)) {}
  ~Pool() { delete ready_.load(); }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  // An object for as long as the loan lives.
  class Loan {
   public:
    explicit Loan(Pool& pool) : pool_(pool), object_(pool.take()) {}
    ~Loan() { pool_.give_back(std::move(object_)); }
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;
    T& operator*() const { return *object_; }
    T* operator->() const { return object_.get(); }

   private:
    Pool& pool_;
    std::unique_ptr<T> object_;
  };

  // Releases the objects that are not in use.
  void clear() {
    delete ready_.exchange(nullptr, std::memory_order_acquire);
    std::vector<std::unique_ptr<T>> unused;
    std::lock_guard lock(mutex_);
    std::swap(unused, more_);
  }

 private:
  std::unique_ptr<T> take() {
    if (T* ready = ready_.exchange(nullptr, std::memory_order_acquire)) return std::unique_ptr<T>(ready);
    {
      std::lock_guard lock(mutex_);
      if (!more_.empty()) {
        auto object = std::move(more_.back());
        more_.pop_back();
        return object;
      }
    }
    return make_();
  }

  void give_back(std::unique_ptr<T> object) {
    T* expected = nullptr;
    if (ready_.compare_exchange_strong(expected, object.get(), std::memory_order_release)) {
      object.release();
      return;
    }
    std::lock_guard lock(mutex_);
    more_.push_back(std::move(object));
  }

  const Make make_;
  std::atomic<T*> ready_{nullptr};
  std::mutex mutex_;
  std::vector<std::unique_ptr<T>> more_;
};

}  // namespace bitale
