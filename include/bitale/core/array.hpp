// Array: n-dimensional strided data, owning or borrowed. Copying an Array copies the handle, not the data; views share
// the data of their base. Owned data is 64-byte aligned. Rows are the last dimension (C order), strides are in bytes.
#pragma once

#include "bitale/core/language.hpp"

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bitale/core/array_view.hpp"
#include "bitale/core/dtype.hpp"
#include "bitale/core/index.hpp"
#include "bitale/core/null_handle.hpp"
#include "bitale/core/ref.hpp"
#include "bitale/core/small_vector.hpp"

namespace bitale {

// An object of the host that an Array may hold in place of numbers: the value of a type that native code only passes on
// and does not look into (graph/type.hpp). Immutable as far as the library is concerned, and shared.
class HostObject : public RefCounted {
 public:
  virtual bool equals(const HostObject& other) const { return this == &other; }
  virtual Ref<const HostObject> copy() const { return Ref<const HostObject>(this); }
  virtual std::string str() const { return "<object of the host>"; }
};

template <class T>
class ArrayElements;

class [[nodiscard]] Array {
 public:
  // Not a value yet, and neither are its copies: using one raises a ValueError (`defined` tells).
  Array();
  bool defined() const noexcept { return !is_placeholder_; }
  Array(const Array&) = default;
  Array& operator=(const Array&) & = default;
  // An Array that was moved from is not a value either, and has no elements.
  Array(Array&& other) noexcept
      : storage_(std::move(other.storage_)),
        data_(std::exchange(other.data_, nullptr)),
        shape_(std::move(other.shape_)),
        strides_(std::move(other.strides_)),
        dtype_(other.dtype_),
        writeable_(other.writeable_),
        owns_data_(std::exchange(other.owns_data_, false)),
        holds_object_(std::exchange(other.holds_object_, false)),
        is_placeholder_(std::exchange(other.is_placeholder_, true)) {
    other.shape_.push_back(0);
    other.strides_.push_back(std::int64_t(itemsize(dtype_)));
  }
  Array& operator=(Array&& other) & noexcept {
    Array moved(std::move(other));  // first, so that an Array moved to itself keeps its value
    std::swap(storage_, moved.storage_);
    data_ = moved.data_;
    shape_ = std::move(moved.shape_);
    strides_ = std::move(moved.strides_);
    dtype_ = moved.dtype_;
    writeable_ = moved.writeable_;
    owns_data_ = moved.owns_data_;
    holds_object_ = moved.holds_object_;
    is_placeholder_ = moved.is_placeholder_;
    return *this;
  }
  // `a[0] = b` would only change a temporary handle and leave the elements as they are: a[0].assign(b) writes.
  void operator=(Array other) && = delete;
  // ValueError unless it is a value.
  void require_defined() const {
    if (is_placeholder_) [[unlikely]]
      refuse_null_handle("Array");
  }
  // ValueError for a read-only array.
  void require_writeable() const {
    if (!writeable_) [[unlikely]]
      refuse_writing();
  }
  template <Element T>
  Array(T value) : Array(scalar(dtype_of<T>::value, &value)) {}
  template <Element T>
  Array(std::initializer_list<T> values)
      : Array(from(values.begin(), dtype_of<T>::value, Dims{std::int64_t(values.size())})) {}
  template <Element T>
  Array(std::initializer_list<std::initializer_list<T>> rows);
  template <Element T>
  Array(std::initializer_list<std::initializer_list<std::initializer_list<T>>> matrices);
  // A copy of the elements of a std::vector, a std::span, or another range of numbers, in one dimension.
  template <ElementRange R>
  Array(const R& values);

  // New contiguous data, uninitialised. ValueError for a negative length, OutOfMemoryError naming the size.
  static Array empty(DType dtype, const Dims& shape);
  static Array zeros(DType dtype, const Dims& shape);
  static Array full(DType dtype, const Dims& shape, double value);
  // Copies contiguous data. ValueError for nullptr, unless there are no elements.
  static Array from(const void* data, DType dtype, const Dims& shape);
  static Array scalar(DType dtype, const void* value);
  enum class Writeable : bool { No, Yes };
  // Borrows memory of another owner, which `keep_alive` keeps valid; strides in bytes. ValueError for nullptr, unless
  // there are no elements.
  static Array borrow(void* data, DType dtype, const Dims& shape, const Dims& strides, std::shared_ptr<void> keep_alive,
                      Writeable writeable = Writeable::Yes);
  // An Array that holds an object: a 0-d uint64 whose element is the object's address, which is not meant for
  // arithmetic. Copies of the Array hold a copy of the object (HostObject::copy).
  static Array holding(Ref<const HostObject> object);
  // The object that is held, or nullptr.
  const HostObject* object() const noexcept { return holds_object_ ? held_object() : nullptr; }

  DType dtype() const noexcept { return dtype_; }
  int ndim() const noexcept { return int(shape_.size()); }
  const Dims& shape() const noexcept { return shape_; }
  const Dims& strides() const noexcept { return strides_; }
  // IndexError for an axis that does not exist.
  std::int64_t shape(int axis) const {
    if (std::size_t(axis) >= shape_.size()) [[unlikely]]
      refuse_axis(axis);
    return shape_[std::size_t(axis)];
  }
  std::int64_t size() const noexcept;
  std::int64_t nbytes() const noexcept { return size() * std::int64_t(itemsize(dtype_)); }
  bool is_contiguous() const noexcept;
  bool writeable() const noexcept { return writeable_; }

  const void* data() const noexcept { return data_; }
  void* mutable_data() const noexcept { return data_; }
  // Typed access; TypeError when T is not the dtype. The mutable ones are for writing, also through a const handle, as
  // `assign` is: ValueError for a read-only array.
  template <Element T>
  const T* data_as() const {
    require_dtype(dtype_of<T>::value);
    return static_cast<const T*>(data_);
  }
  template <Element T>
  T* mutable_data_as() const {
    require_dtype(dtype_of<T>::value);
    require_writeable();
    return static_cast<T*>(data_);
  }
  // The elements of an array of any rank that is contiguous; ValueError for another one. The Array has to be kept as
  // long as they are used: ValueError for a temporary one that is the only owner of its memory, such as f(x)[0].
  template <Element T>
  std::span<const T> span_as() const& {
    require_contiguous();
    return {data_as<T>(), std::size_t(size())};
  }
  template <Element T>
  std::span<T> mutable_span_as() const& {
    require_contiguous();
    return {mutable_data_as<T>(), std::size_t(size())};
  }
  // The elements of an array of N dimensions by position, `view(i, j)`, with any strides; ValueError for another N.
  template <Element T, std::size_t N>
  ArrayView<const T, N> view_as() const& {
    return view_of_rank<N>(data_as<T>());
  }
  template <Element T, std::size_t N>
  ArrayView<T, N> mutable_view_as() const& {
    return view_of_rank<N>(mutable_data_as<T>());
  }
  template <Element T>
  std::span<const T> span_as() && {
    return not_temporary().span_as<T>();
  }
  template <Element T>
  std::span<T> mutable_span_as() && {
    return not_temporary().mutable_span_as<T>();
  }
  template <Element T, std::size_t N>
  ArrayView<const T, N> view_as() && {
    return not_temporary().view_as<T, N>();
  }
  template <Element T, std::size_t N>
  ArrayView<T, N> mutable_view_as() && {
    return not_temporary().mutable_view_as<T, N>();
  }
  // This Array; ValueError if nobody else holds its memory. For what refers to the memory of an Array that ends before.
  const Array& not_temporary() const {
    if (storage_ && storage_->use_count() == 1) [[unlikely]]
      refuse_temporary();
    return *this;
  }
  // All elements one after another, in the order of rows: `for (double value : array.elements<double>())`.
  template <Element T>
  ArrayElements<T> elements() const {
    require_dtype(dtype_of<T>::value);
    return ArrayElements<T>(*this);
  }
  // The only element of a size-1 array, converted. ValueError otherwise.
  double item() const;
  std::int64_t int_item() const;
  // One element by position; IndexError when outside.
  double at(std::span<const std::int64_t> position) const;
  double at(std::initializer_list<std::int64_t> position) const {
    return at(std::span(position.begin(), position.size()));
  }
  std::int64_t offset_of(std::span<const std::int64_t> position) const;  // bytes, unchecked

  // Views of a part, by NumPy's rules: a[i], a[slice(1, n)], a[{i, slice(1, n)}]; negative positions count from the
  // end. IndexError for an integer that is outside, and for more indices than dimensions.
  Array operator[](std::int64_t index) const;
  template <std::same_as<IndexRange> Range>
  Array operator[](const Range& range) const {
    return part({ArrayIndex(range)});
  }
  Array operator[](std::initializer_list<ArrayIndex> items) const { return part(items); }

  // Other views.
  Array transpose(std::span<const int> axes) const;
  Array transpose(std::initializer_list<int> axes) const { return transpose(std::span(axes.begin(), axes.size())); }
  Array transpose() const;  // all axes reversed
  // Elements start, start+step, ... (count of them) of one axis; start is already non-negative.
  Array slice(int axis, std::int64_t start, std::int64_t count, std::int64_t step) const;
  Array take_index(int axis, std::int64_t index) const;                                // drops the axis
  Array insert_axis(int axis, std::int64_t length = 1) const;                          // stride 0
  Array broadcast_to(const Dims& shape) const;                                         // read-only; ShapeError
  Array view(const Dims& shape, const Dims& strides, std::int64_t byte_offset) const;  // unchecked
  Array read_only() const;
  // For a complex array: the real (0) or imaginary (1) part of its elements; for another array, part 0 is the array
  // itself.
  Array component(int part) const;
  // The complex elements as pairs of real numbers, along a new last axis of length 2. TypeError for real elements.
  Array as_pairs() const;
  // The complex elements whose real parts are this array's elements, each followed in memory by its imaginary part:
  // unchecked.
  Array as_complex() const;

  // Copies.
  Array copy() const;                      // contiguous, owning
  Array contiguous() const;                // itself when contiguous
  Array astype(DType dtype) const;         // C++ conversion; a copy only when the dtype differs
  Array reshape(const Dims& shape) const;  // one -1 allowed; view when contiguous. ShapeError
  void assign(const Array& source) const;  // writes source (same shape, converted) into this data

  bool shares_memory_with(const Array& other) const noexcept;
  // Whether this is the only owner of its buffer: no other handle can observe a write. Never true of borrowed memory.
  bool is_unique() const noexcept { return owns_data_ && storage_->use_count() == 1; }
  // Exchanges the memory of two Arrays, which have the same dtype, shape and strides.
  void exchange_memory(Array& other) noexcept {
    std::swap(storage_, other.storage_);
    std::swap(data_, other.data_);
    std::swap(writeable_, other.writeable_);
    std::swap(owns_data_, other.owns_data_);
  }

  std::string str() const;   // as numpy prints
  std::string repr() const;  // "array([0., 2.])"

 private:
  struct NoData {};
  explicit Array(NoData) noexcept {}
  void require_dtype(DType dtype) const {
    require_defined();
    if (dtype_ != dtype) [[unlikely]]
      refuse_dtype(dtype);
  }
  void require_contiguous() const {
    if (!is_contiguous()) [[unlikely]]
      refuse_strides();
  }
  template <std::size_t N, class T>
  ArrayView<T, N> view_of_rank(T* data) const {
    if (shape_.size() != N) [[unlikely]]
      refuse_rank(N);
    typename ArrayView<T, N>::Lengths shape, strides;
    std::copy(shape_.begin(), shape_.end(), shape.begin());
    std::copy(strides_.begin(), strides_.end(), strides.begin());
    return {data, shape, strides};
  }
  Array part(std::initializer_list<ArrayIndex> items) const;
  [[noreturn, gnu::cold]] void refuse_dtype(DType dtype) const;
  [[noreturn, gnu::cold]] void refuse_writing() const;
  [[noreturn, gnu::cold]] void refuse_strides() const;
  [[noreturn, gnu::cold]] static void refuse_temporary();
  [[noreturn, gnu::cold]] void refuse_rank(std::size_t expected) const;
  [[noreturn, gnu::cold]] void refuse_axis(int axis) const;
  [[noreturn, gnu::cold]] static void refuse_ragged_rows(std::size_t expected, std::size_t length);
  const HostObject* held_object() const noexcept;

  Ref<RefCounted> storage_;  // a counted block that holds the data, or the keep-alive of borrowed memory
  void* data_ = nullptr;
  Dims shape_;
  Dims strides_;
  DType dtype_ = DType::Float64;
  bool writeable_ = true;
  bool owns_data_ = false;  // storage_ is a block allocated by Array itself
  bool holds_object_ = false;
  bool is_placeholder_ = false;
};

// What `for (double value : array.elements<double>())` visits, in the order of rows, whatever the strides are.
template <class T>
class ArrayElements {
 public:
  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using pointer = const T*;
    using reference = const T&;

    Iterator() = default;
    Iterator(const Array& of, std::int64_t left)
        : of_(&of), at_(static_cast<const char*>(of.data())), left_(left), position_(of.shape().size()) {}
    const T& operator*() const { return *reinterpret_cast<const T*>(at_); }
    const T* operator->() const { return reinterpret_cast<const T*>(at_); }
    Iterator& operator++() {
      --left_;
      for (std::size_t axis = position_.size(); axis-- > 0;) {
        at_ += of_->strides()[axis];
        if (++position_[axis] < of_->shape()[axis]) break;
        at_ -= of_->strides()[axis] * of_->shape()[axis];
        position_[axis] = 0;
      }
      return *this;
    }
    Iterator operator++(int) {
      Iterator before = *this;
      ++*this;
      return before;
    }
    bool operator==(const Iterator& other) const { return left_ == other.left_; }

   private:
    const Array* of_ = nullptr;
    const char* at_ = nullptr;
    std::int64_t left_ = 0;
    Dims position_;
  };

  explicit ArrayElements(Array array) : array_(std::move(array)) {}
  Iterator begin() const { return Iterator(array_, array_.size()); }
  Iterator end() const { return Iterator(array_, 0); }
  std::size_t size() const { return std::size_t(array_.size()); }

 private:
  Array array_;  // whose memory is needed as long as the loop runs
};

Dims contiguous_strides(const Dims& shape, std::size_t itemsize);
std::int64_t product(const Dims& shape);

// Same dtype, shape and bits (nan equals nan, 0.0 differs from -0.0).
bool identical(const Array& a, const Array& b);
// numpy.allclose with equal_nan, any dtypes; false when shapes differ.
bool allclose(const Array& a, const Array& b, double rtol = 1e-7, double atol = 0.0);

template <ElementRange R>
Array::Array(const R& values) {
  using T = range_value<R>;
  const Dims shape{std::int64_t(std::size(values))};
  if constexpr (std::contiguous_iterator<decltype(std::begin(values))>) {
    *this = from(std::data(values), dtype_of<T>::value, shape);
  } else {
    *this = empty(dtype_of<T>::value, shape);
    std::copy(std::begin(values), std::end(values), static_cast<T*>(data_));
  }
}

template <Element T>
Array::Array(std::initializer_list<std::initializer_list<T>> rows) {
  std::vector<T> flat;
  const std::size_t width = rows.size() ? rows.begin()->size() : 0;
  for (auto& row : rows) {
    if (row.size() != width) refuse_ragged_rows(width, row.size());
    flat.insert(flat.end(), row.begin(), row.end());
  }
  *this = Array(flat).reshape(Dims{std::int64_t(rows.size()), std::int64_t(width)});
}

template <Element T>
Array::Array(std::initializer_list<std::initializer_list<std::initializer_list<T>>> matrices) {
  std::vector<T> flat;
  const std::size_t rows = matrices.size() ? matrices.begin()->size() : 0;
  const std::size_t width = rows ? matrices.begin()->begin()->size() : 0;
  for (auto& matrix : matrices) {
    if (matrix.size() != rows) refuse_ragged_rows(rows, matrix.size());
    for (auto& row : matrix) {
      if (row.size() != width) refuse_ragged_rows(width, row.size());
      flat.insert(flat.end(), row.begin(), row.end());
    }
  }
  *this = Array(flat).reshape(Dims{std::int64_t(matrices.size()), std::int64_t(rows), std::int64_t(width)});
}

}  // namespace bitale
