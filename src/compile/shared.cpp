#include "bitale/compile/shared.hpp"

#include <atomic>
#include <utility>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "compile/shared_access.hpp"

namespace bitale {

Container::Container(Type type, Array value) : type_(std::move(type)), value_(std::move(value)) {}

Array Container::get() const {
  std::lock_guard lock(mutex_);
  return value_;
}

void Container::set(const Array& value, bool borrow) {
  Array filtered = type_->filter(value);
  Array next = borrow ? filtered : filtered.copy();
  // What was there goes after all locks: releasing it may wait for others (memory of Python, for the interpreter's
  // lock).
  std::optional<Array> spare;
  const SharedClaim claim = SharedClaim::of({this}, {this});
  SharedAccess(claim).commit([&] {
    const std::lock_guard lock(mutex_);
    std::swap(value_, next);
    std::swap(spare_, spare);
  });
}

void Container::update(Array value, std::vector<Array>& released) const noexcept {
  const std::lock_guard lock(mutex_);
  std::swap(value_, value);
  if (spare_) released.push_back(std::move(*spare_));
  spare_.reset();
  if (value.shape() == value_.shape())
    spare_.emplace(std::move(value));
  else
    released.push_back(std::move(value));
}

Array Container::memory_for_update(const Dims& shape) const {
  std::optional<Array> spare;
  {
    std::lock_guard lock(mutex_);
    std::swap(spare_, spare);
  }
  if (spare && spare->is_unique() && spare->shape() == shape) {
    std::atomic_thread_fence(std::memory_order_acquire);  // the last reader has read
    return std::move(*spare);
  }
  return Array::empty(type_->storage()->dtype, shape);
}

Variable shared(const Array& value, std::string name, bool borrow, std::optional<Dims> static_shape) {
  Dims shape = static_shape ? *static_shape : Dims(std::size_t(value.ndim()), unknown_length);
  Type type = tensor_type(value.dtype(), shape);
  return shared_of(type, value, std::move(name), borrow);
}

Variable shared_of(const Type& type, const Array& value, std::string name, bool borrow) {
  storage_of(type, "shared");
  Array kept = type->filter(value);
  Variable variable(type, std::move(name));
  variable.node()->leaf = Ref<const LeafData>(make_ref<Container>(type, borrow ? kept : kept.copy()));
  return variable;
}

const Container* container_of(const Variable& variable) {
  return dynamic_cast<const Container*>(variable.node()->leaf.get());
}

namespace {
Container& require_container(const Variable& variable, std::string_view what) {
  if (auto* container = container_of(variable)) return const_cast<Container&>(*container);
  throw TypeError(cat(what, ": ", variable.str(), " is not a shared variable"));
}
}  // namespace

Array get_value(const Variable& shared, bool borrow) {
  const Array value = require_container(shared, "get_value").get();
  return borrow ? value : value.copy();
}

void set_value(const Variable& shared, const Array& value, bool borrow) {
  require_container(shared, "set_value").set(value, borrow);
}

}  // namespace bitale
