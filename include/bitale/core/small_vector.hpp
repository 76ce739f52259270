// A short vector of trivially copyable values: the first N live inside the object, so that shapes and
// strides of ordinary arrays never touch the heap.
#pragma once

#include "bitale/core/language.hpp"

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>
#include <type_traits>

namespace bitale {

template <class T, std::size_t N>
class SmallVector {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  SmallVector() noexcept {}
  explicit SmallVector(std::size_t n, T value = T{}) { resize(n, value); }
  SmallVector(std::initializer_list<T> values) { assign(values.begin(), values.size()); }
  SmallVector(std::span<const T> values) { assign(values.data(), values.size()); }
  SmallVector(const SmallVector& other) { assign(other.data_, other.size_); }
  SmallVector(SmallVector&& other) noexcept { take(other); }
  SmallVector& operator=(const SmallVector& other) {
    if (this != &other) assign(other.data_, other.size_);
    return *this;
  }
  SmallVector& operator=(SmallVector&& other) noexcept {
    if (this != &other) {
      release();
      take(other);
    }
    return *this;
  }
  ~SmallVector() { release(); }

  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  T* data() noexcept { return data_; }
  const T* data() const noexcept { return data_; }
  T* begin() noexcept { return data_; }
  T* end() noexcept { return data_ + size_; }
  const T* begin() const noexcept { return data_; }
  const T* end() const noexcept { return data_ + size_; }
  T& operator[](std::size_t i) noexcept { return data_[i]; }
  const T& operator[](std::size_t i) const noexcept { return data_[i]; }
  T& back() noexcept { return data_[size_ - 1]; }
  const T& back() const noexcept { return data_[size_ - 1]; }

  void clear() noexcept { size_ = 0; }
  void reserve(std::size_t n) {
    if (n <= capacity_) return;
    T* bigger = new T[n];
    if (size_) std::memcpy(bigger, data_, size_ * sizeof(T));
    release();
    data_ = bigger;
    capacity_ = n;
  }
  void resize(std::size_t n, T value = T{}) {
    reserve(n);
    for (std::size_t i = size_; i < n; ++i) data_[i] = value;
    size_ = n;
  }
  void push_back(T value) {
    if (size_ == capacity_) reserve(2 * capacity_);
    data_[size_++] = value;
  }
  void insert(std::size_t at, T value) {
    push_back(value);
    for (std::size_t i = size_ - 1; i > at; --i) data_[i] = data_[i - 1];
    data_[at] = value;
  }
  void erase(std::size_t at) {
    for (std::size_t i = at; i + 1 < size_; ++i) data_[i] = data_[i + 1];
    --size_;
  }

  friend bool operator==(const SmallVector& a, const SmallVector& b) noexcept {
    if (a.size_ != b.size_) return false;
    for (std::size_t i = 0; i < a.size_; ++i)
      if (!(a.data_[i] == b.data_[i])) return false;
    return true;
  }

 private:
  void assign(const T* values, std::size_t n) {
    size_ = 0;
    reserve(n);
    if (n) std::memcpy(data_, values, n * sizeof(T));
    size_ = n;
  }
  void take(SmallVector& other) noexcept {
    if (other.data_ == other.inline_) {
      data_ = inline_;
      capacity_ = N;
      std::memcpy(inline_, other.inline_, other.size_ * sizeof(T));
    } else {
      data_ = other.data_;
      capacity_ = other.capacity_;
      other.data_ = other.inline_;
      other.capacity_ = N;
    }
    size_ = other.size_;
    other.size_ = 0;
  }
  void release() noexcept {
    if (data_ != inline_) delete[] data_;
    data_ = inline_;
  }

  T* data_ = inline_;
  std::size_t size_ = 0;
  std::size_t capacity_ = N;
  T inline_[N];
};

// Lengths or byte strides, one per dimension.
using Dims = SmallVector<std::int64_t, 6>;

}  // namespace bitale
