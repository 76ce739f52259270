// Array: allocation, views, copies and comparison. Data and its reference count share one 64-byte aligned block.
#include "bitale/core/array.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <optional>

#include "bitale/core/config.hpp"
#include "bitale/core/convert.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "core/big_blocks.hpp"
#include "core/strided.hpp"

namespace bitale {

namespace {

constexpr std::size_t alignment = 64;

// The head of a block whose data begins one alignment unit later. Small blocks come from malloc and are aligned by
// hand: malloc's aligned variant misses the thread's cache of free blocks and costs more than a whole call of a small
// function.
class Block final : public RefCounted {
 public:
  // Null when there is no memory left.
  static Block* allocate(std::size_t bytes) {
    static const bool guarded = config::get_bool("memory__guard");
    if (guarded) return allocate_guarded(bytes);
#ifdef __SANITIZE_ADDRESS__
    // No memory that may be accessed follows the data.
    void* exact = nullptr;
    if (posix_memalign(&exact, alignment, alignment + bytes)) return nullptr;
    return construct(static_cast<char*>(exact), {exact, 0});
#endif
    if (2 * alignment + bytes >= big_block) {
      const BigBlock big = take_big_block(alignment + bytes);
      return big.memory ? construct(static_cast<char*>(big.memory), {big.memory, big.bytes}) : nullptr;
    }
    void* memory = std::malloc(2 * alignment + bytes);
    if (!memory) return nullptr;
    const auto address = reinterpret_cast<std::uintptr_t>(memory);
    return construct(static_cast<char*>(memory) + (alignment - address % alignment) % alignment, {memory, 0});
  }
  static void operator delete(void* head) {
    Origin origin;
    std::memcpy(&origin, static_cast<char*>(head) + origin_at, sizeof origin);
    if (origin.guarded_bytes)
      munmap(origin.memory, origin.guarded_bytes);
    else if (origin.big_bytes)
      give_big_block({origin.memory, origin.big_bytes});
    else
      std::free(origin.memory);
  }

  void* data() { return reinterpret_cast<char*>(this) + alignment; }

  struct Origin {
    void* memory;
    std::size_t big_bytes;          // 0: from malloc
    std::size_t guarded_bytes = 0;  // of a mapping of its own
  };

 private:
  // Data that ends where an inaccessible page begins. It is aligned as its largest possible elements are.
  static Block* allocate_guarded(std::size_t bytes) {
    static const std::size_t page = std::size_t(sysconf(_SC_PAGESIZE));
    constexpr std::size_t element = sizeof(double);
    const std::size_t used = (alignment + bytes + page + element - 1) / page * page, all = used + page;
    void* memory = mmap(nullptr, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return nullptr;
    mprotect(static_cast<char*>(memory) + used, page, PROT_NONE);
    const std::size_t data = (used - bytes) / element * element;
    return construct(static_cast<char*>(memory) + data - alignment, {memory, 0, all});
  }
  static Block* construct(char* head, const Origin& origin) {
    std::memcpy(head + origin_at, &origin, sizeof origin);
    return ::new (head) Block;
  }
  static constexpr std::size_t origin_at = alignment - sizeof(Origin);  // in the head
};
static_assert(sizeof(Block) <= alignment - sizeof(Block::Origin));

class Borrowed final : public RefCounted {
 public:
  explicit Borrowed(std::shared_ptr<void> keep_alive) : keep_alive_(std::move(keep_alive)) {}

 private:
  std::shared_ptr<void> keep_alive_;
};

// Keeps an object alive, and stores its address.
class ObjectCell final : public RefCounted {
 public:
  explicit ObjectCell(Ref<const HostObject> object)
      : object_(std::move(object)), address_(reinterpret_cast<std::uintptr_t>(object_.get())) {}
  const HostObject* object() const { return object_.get(); }
  void* address() { return &address_; }

 private:
  const Ref<const HostObject> object_;
  std::uint64_t address_;
};

// The product, or nullopt when it exceeds `limit`. Zeros are skipped: (0, 2**62, 2**62) is too large as well.
std::optional<std::int64_t> bounded_product(const Dims& shape, std::int64_t limit) {
  std::int64_t total = 1;
  for (std::int64_t length : shape) {
    if (length == 0) continue;
    if (total > limit / length) return {};
    total *= length;
  }
  return total;
}

void require_lengths(const Dims& shape) {
  for (std::int64_t length : shape)
    if (length < 0) throw ValueError(cat("negative length in the shape ", tuple_text(shape)));
}

// More than any machine can address; larger requests are refused without trying.
constexpr std::int64_t max_bytes = std::int64_t(1) << 47;

std::string size_text(const Dims& shape, DType dtype) {
  double bytes = double(itemsize(dtype));
  for (std::int64_t length : shape) bytes *= double(std::max<std::int64_t>(length, 1));
  static const char* const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  std::size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < std::size(units); ++unit) bytes /= 1024;
  char number[32];
  std::snprintf(number, sizeof number, bytes < 1e6 ? "%.4g" : "%.3e", bytes);
  return cat(number, " ", units[unit], " for an array of shape ", tuple_text(shape), " and dtype ", dtype_name(dtype));
}

void require_axis(const Array& array, int axis, int end) {
  if (axis < 0 || axis >= end)
    throw IndexError(cat("axis ", axis, " is out of bounds for an array of dimension ", array.ndim()));
}

// The bytes from the first to past the last element, for strides of either sign.
struct Extent {
  const char* begin;
  const char* end;
};
Extent extent_of(const Array& array) {
  auto data = static_cast<const char*>(array.data());
  Extent extent{data, data};
  if (array.size() == 0) return extent;
  for (int axis = 0; axis < array.ndim(); ++axis) {
    const std::int64_t reach = (array.shape(axis) - 1) * array.strides()[std::size_t(axis)];
    (reach < 0 ? extent.begin : extent.end) += reach;
  }
  extent.end += itemsize(array.dtype());
  return extent;
}

template <class From, class To>
void convert_run(std::int64_t n, char* to, std::int64_t to_stride, const char* from, std::int64_t from_stride) {
  if (to_stride == sizeof(To) && from_stride == sizeof(From)) {
    auto source = reinterpret_cast<const From*>(from);
    auto target = reinterpret_cast<To*>(to);
    for (std::int64_t i = 0; i < n; ++i) target[i] = convert_element<To>(source[i]);
    return;
  }
  for (std::int64_t i = 0; i < n; ++i)
    *reinterpret_cast<To*>(to + i * to_stride) =
        convert_element<To>(*reinterpret_cast<const From*>(from + i * from_stride));
}

template <std::size_t size>
void copy_run(std::int64_t n, char* to, std::int64_t to_stride, const char* from, std::int64_t from_stride) {
  if (to_stride == size && from_stride == size) {
    std::memcpy(to, from, std::size_t(n) * size);
    return;
  }
  for (std::int64_t i = 0; i < n; ++i) std::memcpy(to + i * to_stride, from + i * from_stride, size);
}

using RunFunction = void (*)(std::int64_t, char*, std::int64_t, const char*, std::int64_t);

RunFunction copy_function(std::size_t size) {
  switch (size) {
    case 1: return copy_run<1>;
    case 2: return copy_run<2>;
    case 4: return copy_run<4>;
    case 8: return copy_run<8>;
    default: return copy_run<16>;
  }
}

RunFunction convert_function(DType from, DType to) {
  return visit_dtype(from, [&]<class From>() {
    return visit_dtype(to, [&]<class To>() -> RunFunction { return convert_run<From, To>; });
  });
}

void write(const Array& target, const Array& source);

// A real number becomes a complex one with imaginary part 0; the opposite conversion would lose a part.
void write_complex(const Array& target, const Array& source) {
  if (!is_complex(target.dtype()))
    throw TypeError(cat("complex numbers (", dtype_name(source.dtype()), ") are no ", dtype_name(target.dtype()),
                        ": take `real`, `imag`, `abs` or `angle` of them"));
  write(target.component(0), source.component(0));
  const bool is_real = !is_complex(source.dtype());
  const Array zero = is_real ? Array::zeros(component_dtype(target.dtype()), Dims{}) : Array();
  write(target.component(1), is_real ? zero.broadcast_to(source.shape()) : source.component(1));
}

// Writes the elements of `source` to `target`: same shape, no overlap.
void write(const Array& target, const Array& source) {
  const bool same = target.dtype() == source.dtype();
  if (!same && (is_complex(target.dtype()) || is_complex(source.dtype()))) return write_complex(target, source);
  const RunFunction run =
      same ? copy_function(itemsize(target.dtype())) : convert_function(source.dtype(), target.dtype());
  char* to = static_cast<char*>(target.mutable_data());
  const char* from = static_cast<const char*>(source.data());
  StridedWalk(target.shape(), target.strides(), source.strides())
      .for_each_run([&](std::int64_t n, std::int64_t a, std::int64_t a_stride, std::int64_t b, std::int64_t b_stride) {
        run(n, to + a, a_stride, from + b, b_stride);
      });
}

}  // namespace

// ---- creation ------------------------------------------------------------------------------------------------------

// Memory of its own that nobody may reuse for a result.
Array::Array() : Array(zeros(DType::Float64, Dims{})) {
  is_placeholder_ = true;
  owns_data_ = false;
}

Array Array::empty(DType dtype, const Dims& shape) {
  require_lengths(shape);
  const bool is_empty = std::find(shape.begin(), shape.end(), 0) != shape.end();
  // An array without elements needs no memory, but NumPy requires its lengths to be countable, too.
  const std::int64_t most = is_empty ? std::numeric_limits<std::int64_t>::max() : max_bytes;
  const auto count = bounded_product(shape, most / std::int64_t(itemsize(dtype)));
  const std::size_t bytes = is_empty || !count ? 0 : std::size_t(*count) * itemsize(dtype);
  Block* block = count ? Block::allocate(bytes) : nullptr;
  if (!block) throw OutOfMemoryError(cat("no memory: ", size_text(shape, dtype)));

  // Filled in place, member by member: a call of a small function creates several of these.
  Array array{NoData{}};
  array.storage_ = Ref<RefCounted>(block);
  array.data_ = block->data();
  array.shape_ = shape;
  array.strides_ = contiguous_strides(shape, bitale::itemsize(dtype));
  array.dtype_ = dtype;
  array.owns_data_ = true;
  return array;
}

Array Array::zeros(DType dtype, const Dims& shape) {
  Array array = empty(dtype, shape);
  std::memset(array.data_, 0, std::size_t(array.nbytes()));
  return array;
}

Array Array::full(DType dtype, const Dims& shape, double value) {
  if (is_complex(dtype)) return full(component_dtype(dtype), shape, value).astype(dtype);
  Array array = empty(dtype, shape);
  visit_dtype(dtype,
              [&]<class T>() { std::fill_n(static_cast<T*>(array.data_), array.size(), convert_element<T>(value)); });
  return array;
}

Array Array::from(const void* data, DType dtype, const Dims& shape) {
  Array array = empty(dtype, shape);
  if (const auto bytes = std::size_t(array.nbytes())) {
    if (!data) throw ValueError(cat("Array::from: expected the address of ", size_text(shape, dtype), ", got nullptr"));
    std::memcpy(array.data_, data, bytes);
  }
  return array;
}

Array Array::scalar(DType dtype, const void* value) { return from(value, dtype, Dims{}); }

Array Array::holding(Ref<const HostObject> object) {
  if (!object) throw ValueError("an Array can't hold a null object");
  Ref<ObjectCell> cell = make_ref<ObjectCell>(std::move(object));
  Array array{NoData{}};
  array.data_ = cell->address();
  array.storage_ = std::move(cell);
  array.dtype_ = DType::UInt64;
  array.writeable_ = false;
  array.holds_object_ = true;
  return array;
}

const HostObject* Array::held_object() const noexcept {
  return static_cast<const ObjectCell*>(storage_.get())->object();
}

Array Array::borrow(void* data, DType dtype, const Dims& shape, const Dims& strides, std::shared_ptr<void> keep_alive,
                    Writeable writeable) {
  require_lengths(shape);
  if (shape.size() != strides.size())
    throw ValueError(cat("borrow: a shape of ", shape.size(), " dimensions with ", strides.size(), " strides"));
  if (!bounded_product(shape, std::numeric_limits<std::int64_t>::max() / std::int64_t(itemsize(dtype))))
    throw ValueError(cat("borrow: too large: ", size_text(shape, dtype)));
  if (!data && product(shape) != 0)
    throw ValueError(cat("borrow: expected the address of ", size_text(shape, dtype), ", got nullptr"));
  Array array{NoData{}};
  if (keep_alive) array.storage_ = make_ref<Borrowed>(std::move(keep_alive));
  array.data_ = data;
  array.shape_ = shape;
  array.strides_ = strides;
  array.dtype_ = dtype;
  array.writeable_ = writeable == Writeable::Yes;
  return array;
}

// ---- queries -------------------------------------------------------------------------------------------------------

std::int64_t Array::size() const noexcept {
  std::int64_t total = 1;
  for (std::int64_t length : shape_) {
    if (length == 0) return 0;
    total *= length;
  }
  return total;
}

bool Array::is_contiguous() const noexcept {
  auto expected = std::int64_t(itemsize(dtype_));
  bool contiguous = true;
  for (std::size_t axis = shape_.size(); axis-- > 0;) {
    if (shape_[axis] == 0) return true;
    if (shape_[axis] == 1) continue;
    contiguous = contiguous && strides_[axis] == expected;
    if (contiguous) expected *= shape_[axis];
  }
  return contiguous;
}

void Array::refuse_ragged_rows(std::size_t expected, std::size_t length) {
  throw ShapeError(cat("Array: expected rows of the same length, got one of ", expected, " and one of ", length));
}
void Array::refuse_axis(int axis) const {
  throw IndexError(cat("axis ", axis, " is out of bounds for an array of dimension ", ndim()));
}

void Array::refuse_dtype(DType dtype) const {
  throw TypeError(cat("expected an array of dtype ", dtype_name(dtype), ", got ", dtype_name(dtype_)));
}

void Array::refuse_writing() const {
  throw ValueError("this array may be read only: data_as, span_as and view_as read; copy() is an array to write to");
}

void Array::refuse_strides() const {
  throw ValueError(cat("expected adjacent elements in the order of rows, got the strides ", tuple_text(strides_),
                       " of the shape ", tuple_text(shape_), ": contiguous() has them so, and view_as has strides"));
}

void Array::refuse_temporary() {
  throw ValueError("the elements of a temporary array end with it: give the array a name first");
}

void Array::refuse_rank(std::size_t expected) const {
  throw ValueError(cat("expected an array of ", expected, " dimensions, got one of the shape ", tuple_text(shape_)));
}

void refuse_stride(std::int64_t stride, std::size_t itemsize) {
  throw ValueError(cat("expected strides that are multiples of ", itemsize, " bytes, and not negative, got ", stride,
                       ": contiguous() is an array with such ones"));
}

void refuse_position(std::int64_t position, std::size_t axis, std::int64_t length) {
  throw IndexError(cat("position ", position, " of axis ", axis, " is outside of its length ", length));
}

namespace {
void require_one_number(const Array& array) {
  array.require_defined();
  if (is_complex(array.dtype()))
    throw TypeError(cat("expected real numbers, got an array of dtype ", dtype_name(array.dtype())));
}
}  // namespace

double Array::item() const {
  if (size() != 1) throw ValueError(cat("expected an array with one element, got the shape ", tuple_text(shape_)));
  require_one_number(*this);
  return visit_dtype(dtype_, [&]<class T>() { return convert_element<double>(*static_cast<const T*>(data_)); });
}

std::int64_t Array::int_item() const {
  if (size() != 1) throw ValueError(cat("expected an array with one element, got the shape ", tuple_text(shape_)));
  require_one_number(*this);
  return visit_dtype(dtype_, [&]<class T>() { return convert_element<std::int64_t>(*static_cast<const T*>(data_)); });
}

double Array::at(std::span<const std::int64_t> position) const {
  if (position.size() != shape_.size())
    throw IndexError(cat("expected ", shape_.size(), " indices, got ", tuple_text(position)));
  for (std::size_t axis = 0; axis < position.size(); ++axis)
    if (position[axis] < 0 || position[axis] >= shape_[axis])
      throw IndexError(cat("position ", tuple_text(position), " is outside the shape ", tuple_text(shape_)));
  require_one_number(*this);
  const char* element = static_cast<const char*>(data_) + offset_of(position);
  return visit_dtype(dtype_, [&]<class T>() { return convert_element<double>(*reinterpret_cast<const T*>(element)); });
}

std::int64_t Array::offset_of(std::span<const std::int64_t> position) const {
  std::int64_t offset = 0;
  for (std::size_t axis = 0; axis < position.size(); ++axis) offset += position[axis] * strides_[axis];
  return offset;
}

bool Array::shares_memory_with(const Array& other) const noexcept {
  const Extent mine = extent_of(*this), its = extent_of(other);
  return mine.begin < its.end && its.begin < mine.end;
}

// ---- views ---------------------------------------------------------------------------------------------------------

namespace {
// Of a negative position, which counts from the end; others, and those that are outside, are left as they are.
std::int64_t from_begin(std::int64_t position, std::int64_t length) {
  return position < 0 && position >= -length ? position + length : position;
}
}  // namespace

Array Array::operator[](std::int64_t index) const {
  require_defined();
  if (shape_.empty()) throw IndexError("an array without dimensions has no parts to index");
  return take_index(0, from_begin(index, shape_[0]));
}

Array Array::part(std::initializer_list<ArrayIndex> items) const {
  require_defined();
  std::size_t taken = 0, ellipses = 0;
  for (const ArrayIndex& item : items) {
    taken += item.index() < 2;
    ellipses += std::holds_alternative<Ellipsis>(item);
  }
  if (taken > shape_.size())
    throw IndexError(cat("too many indices: ", taken, " for an array of the shape ", tuple_text(shape_)));
  if (ellipses > 1) throw IndexError("an index has one Ellipsis at most");
  Array out = *this;
  int axis = 0;
  for (const ArrayIndex& item : items) {
    if (const auto* index = std::get_if<std::int64_t>(&item)) {
      out = out.take_index(axis, from_begin(*index, out.shape(axis)));
    } else if (const auto* range = std::get_if<IndexRange>(&item)) {
      const std::int64_t length = out.shape(axis), step = range->step.value_or(1);
      if (step == 0) throw ValueError("slice: the step is 0");
      // Python's rules: negative positions count from the end, and others than those of elements are clipped.
      const std::int64_t lowest = step < 0 ? -1 : 0, highest = step < 0 ? length - 1 : length;
      const auto bound = [&](std::optional<std::int64_t> at, std::int64_t absent) {
        return at ? std::clamp(*at < 0 ? *at + length : *at, lowest, highest) : absent;
      };
      const std::int64_t start = bound(range->start, step < 0 ? highest : lowest),
                         stop = bound(range->stop, step < 0 ? lowest : highest);
      const std::int64_t distance = step < 0 ? start - stop : stop - start;
      // A step may be the least number, which has no absolute value.
      const std::int64_t count = distance <= 0 ? 0 : 1 + (step < 0 ? (1 - distance) / step : (distance - 1) / step);
      out = out.slice(axis++, start, count, step);
    } else if (std::holds_alternative<NewAxis>(item)) {
      out = out.insert_axis(axis++);
    } else {
      axis += int(shape_.size() - taken);
    }
  }
  return out;
}

Array Array::transpose(std::span<const int> axes) const {
  if (axes.size() != shape_.size())
    throw ValueError(cat("transpose: ", axes.size(), " axes for an array of dimension ", ndim()));
  Array out = *this;
  std::vector<bool> seen(axes.size());
  for (std::size_t i = 0; i < axes.size(); ++i) {
    require_axis(*this, axes[i], ndim());
    const auto from = std::size_t(axes[i]);
    if (seen[from]) throw ValueError(cat("transpose: axis ", axes[i], " is given twice"));
    seen[from] = true;
    out.shape_[i] = shape_[from];
    out.strides_[i] = strides_[from];
  }
  return out;
}

Array Array::transpose() const {
  Array out = *this;
  std::reverse(out.shape_.begin(), out.shape_.end());
  std::reverse(out.strides_.begin(), out.strides_.end());
  return out;
}

Array Array::slice(int axis, std::int64_t start, std::int64_t count, std::int64_t step) const {
  require_axis(*this, axis, ndim());
  if (count < 0) throw ValueError(cat("slice: negative count ", count));
  const std::int64_t length = shape(axis);
  Array out = *this;
  out.shape_[std::size_t(axis)] = count;
  if (count == 0) return out;
  // Checks the last position without overflow: (count - 1) steps must fit between start and the end they move towards.
  const bool starts_inside = start >= 0 && start < length;
  const bool ends_inside = count == 1 || step == 0 ||
                           (step > 0 ? (count - 1) <= (length - 1 - start) / step
                                     : step != std::numeric_limits<std::int64_t>::min() && count - 1 <= start / -step);
  if (!starts_inside || !ends_inside)
    throw IndexError(
        cat("slice: ", count, " elements from ", start, " by ", step, " leave axis ", axis, " of length ", length));
  const std::int64_t stride = strides_[std::size_t(axis)];
  out.data_ = static_cast<char*>(data_) + start * stride;
  out.strides_[std::size_t(axis)] = count == 1 ? stride : stride * step;
  return out;
}

Array Array::take_index(int axis, std::int64_t index) const {
  require_axis(*this, axis, ndim());
  if (index < 0 || index >= shape(axis))
    throw IndexError(cat("index ", index, " is out of bounds for axis ", axis, " with length ", shape(axis)));
  Array out = *this;
  out.data_ = static_cast<char*>(data_) + index * strides_[std::size_t(axis)];
  out.shape_.erase(std::size_t(axis));
  out.strides_.erase(std::size_t(axis));
  return out;
}

Array Array::insert_axis(int axis, std::int64_t length) const {
  require_defined();
  require_axis(*this, axis, ndim() + 1);
  Dims shape = shape_;
  shape.insert(std::size_t(axis), length);
  product(shape);  // throws when there are too many elements to count
  Array out = *this;
  out.shape_ = shape;
  out.strides_.insert(std::size_t(axis), 0);
  return out;
}

Array Array::broadcast_to(const Dims& shape) const {
  require_defined();
  if (shape.size() < shape_.size())
    throw ShapeError(cat("can't broadcast the shape ", tuple_text(shape_), " to ", tuple_text(shape),
                         ", which has fewer dimensions"));
  product(shape);
  const std::size_t added = shape.size() - shape_.size();
  Dims strides(shape.size(), 0);
  for (std::size_t axis = 0; axis < shape_.size(); ++axis) {
    const std::int64_t have = shape_[axis], want = shape[added + axis];
    if (have == want)
      strides[added + axis] = strides_[axis];
    else if (have != 1)
      throw ShapeError(cat("can't broadcast the shape ", tuple_text(shape_), " to ", tuple_text(shape), ": dimension ",
                           axis, " has length ", have, ", not ", want, " or 1"));
  }
  Array out = view(shape, strides, 0);
  if (product(shape) > size()) out.writeable_ = false;  // several elements share one place in memory
  return out;
}

Array Array::view(const Dims& shape, const Dims& strides, std::int64_t byte_offset) const {
  Array out = *this;
  out.shape_ = shape;
  out.strides_ = strides;
  out.data_ = static_cast<char*>(data_) + byte_offset;
  return out;
}

Array Array::read_only() const {
  Array out = *this;
  out.writeable_ = false;
  return out;
}

Array Array::component(int part) const {
  if (part != 0 && part != 1) throw ValueError(cat("component: expected 0 (real) or 1 (imaginary), got ", part));
  Array out = *this;
  out.dtype_ = component_dtype(dtype_);
  if (part && out.dtype_ == dtype_)
    throw TypeError(cat("an array of dtype ", dtype_name(dtype_), " has no imaginary part"));
  if (part) out.data_ = static_cast<char*>(data_) + itemsize(out.dtype_);
  return out;
}

Array Array::as_pairs() const {
  if (!is_complex(dtype_))
    throw TypeError(cat("as_pairs: expected an array of complex numbers, got one of ", dtype_name(dtype_)));
  Array out = component(0);
  out.shape_.push_back(2);
  out.strides_.push_back(std::int64_t(itemsize(out.dtype_)));
  return out;
}

Array Array::as_complex() const {
  Array out = *this;
  out.dtype_ = promote(dtype_, DType::Complex64);
  return out;
}

// ---- copies --------------------------------------------------------------------------------------------------------

Array Array::copy() const {
  if (!defined()) return {};
  if (const HostObject* held = object()) return holding(held->copy());
  Array out = empty(dtype_, shape_);
  write(out, *this);
  return out;
}

Array Array::contiguous() const { return is_contiguous() ? *this : copy(); }

Array Array::astype(DType dtype) const {
  require_defined();
  if (dtype == dtype_) return *this;
  Array out = empty(dtype, shape_);
  write(out, *this);
  return out;
}

Array Array::reshape(const Dims& shape) const {
  require_defined();
  Dims resolved = shape;
  std::optional<std::size_t> free_axis;
  std::int64_t known = 1;
  auto refuse = [&](const char* why) {
    throw ShapeError(cat("can't reshape ", tuple_text(shape_), " to ", tuple_text(shape), why));
  };
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] == -1) {
      if (free_axis) refuse(": only one length may be -1");
      free_axis = axis;
    } else if (shape[axis] < 0) {
      refuse(": negative length");
    } else if (__builtin_mul_overflow(known, shape[axis], &known)) {
      refuse(": the sizes differ");
    }
  }
  if (free_axis) {
    if (known == 0 || size() % known != 0) refuse(": no length fits for -1");
    resolved[*free_axis] = size() / known;
    known *= resolved[*free_axis];
  }
  if (known != size()) refuse(": the sizes differ");
  Array base = contiguous();
  return base.view(resolved, contiguous_strides(resolved, itemsize(dtype_)), 0);
}

void Array::assign(const Array& source) const {
  require_defined();
  source.require_defined();
  if (!writeable_) throw ValueError("the array is read-only");
  if (!(source.shape_ == shape_))
    throw ShapeError(cat("can't assign the shape ", tuple_text(source.shape_), " to the shape ", tuple_text(shape_)));
  if (shares_memory_with(source)) {
    const bool itself = data_ == source.data_ && strides_ == source.strides_ && dtype_ == source.dtype_;
    if (!itself) write(*this, source.copy());
  } else {
    write(*this, source);
  }
}

// ---- free functions ------------------------------------------------------------------------------------------------

Dims contiguous_strides(const Dims& shape, std::size_t itemsize) {
  Dims strides(shape.size());
  auto stride = std::int64_t(itemsize);
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    strides[axis] = stride;
    // An empty array has no second element: its strides only have to be representable.
    if (__builtin_mul_overflow(stride, std::max<std::int64_t>(shape[axis], 1), &stride)) stride = 0;
  }
  return strides;
}

std::int64_t product(const Dims& shape) {
  require_lengths(shape);
  const auto total = bounded_product(shape, std::numeric_limits<std::int64_t>::max());
  if (!total) throw ValueError(cat("the shape ", tuple_text(shape), " has too many elements to count"));
  return std::find(shape.begin(), shape.end(), 0) != shape.end() ? 0 : *total;
}

namespace {

template <class T>
bool same_value(T a, T b) {
  if constexpr (is_float_type<T>) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
    return a == b && std::signbit(a) == std::signbit(b);
  } else {
    return a == b;
  }
}

template <class T, class Compare>
bool all_elements(const Array& a, const Array& b, Compare compare) {
  const Array left = a.contiguous(), right = b.contiguous();
  auto x = static_cast<const T*>(left.data()), y = static_cast<const T*>(right.data());
  for (std::int64_t i = 0, n = a.size(); i < n; ++i)
    if (!compare(x[i], y[i])) return false;
  return true;
}

}  // namespace

bool identical(const Array& a, const Array& b) {
  if (a.dtype() != b.dtype() || !(a.shape() == b.shape())) return false;
  if (a.object() || b.object()) return a.object() && b.object() && a.object()->equals(*b.object());
  if (is_complex(a.dtype())) return identical(a.as_pairs(), b.as_pairs());
  return visit_dtype(a.dtype(), [&]<class T>() { return all_elements<T>(a, b, same_value<T>); });
}

namespace {
// Compares distances in the complex plane; numbers that are not finite are compared part by part.
bool complex_allclose(const Array& a, const Array& b, double rtol, double atol) {
  using Number = std::complex<double>;
  const auto part = [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); };
  return all_elements<Number>(a.astype(DType::Complex128), b.astype(DType::Complex128), [&](Number x, Number y) {
    if (part(x.real(), y.real()) && part(x.imag(), y.imag())) return true;
    return std::abs(y) < std::numeric_limits<double>::infinity() && std::abs(x - y) <= atol + rtol * std::abs(y);
  });
}
}  // namespace

bool allclose(const Array& a, const Array& b, double rtol, double atol) {
  if (!(a.shape() == b.shape())) return false;
  if (is_complex(a.dtype()) || is_complex(b.dtype())) return complex_allclose(a, b, rtol, atol);
  return all_elements<double>(a.astype(DType::Float64), b.astype(DType::Float64), [&](double x, double y) {
    if (x == y) return true;
    if (std::isnan(x) || std::isnan(y)) return std::isnan(x) && std::isnan(y);
    if (std::isinf(x) || std::isinf(y)) return false;
    return std::abs(x - y) <= atol + rtol * std::abs(y);
  });
}

}  // namespace bitale
