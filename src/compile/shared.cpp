#include "bitale/compile/shared.hpp"

#include <atomic>
#include <utility>

#include "bitale/core/error.hpp"
#include "bitale/core/resident.hpp"
#include "bitale/core/text.hpp"
#include "compile/shared_access.hpp"

namespace bitale {

Container::Container(Type type, Array value, Borrow borrow)
    : type_(std::move(type)), value_(std::move(value)), is_lent_(borrow == Borrow::Yes) {}

Array Container::held() const {
  const std::lock_guard lock(mutex_);
  return value_;
}

namespace {

// A container's value, held so that no call takes it meanwhile.
class HeldValue {
 public:
  explicit HeldValue(const Container& container) {
    for (;;) {
      value = container.held();
      resident_ = resident_in(value);
      if (!resident_ || resident_->hold()) return;
      resident_->wait_while_taken();
    }
  }
  ~HeldValue() {
    if (resident_) resident_->unhold();
  }
  HeldValue(const HeldValue&) = delete;
  HeldValue& operator=(const HeldValue&) = delete;

  Array value;

 private:
  const Resident* resident_;
};

}  // namespace

Array Container::get() const { return fetched(HeldValue(*this).value); }

// The device is queried outside the lock: it may wait for a lock of the host language.
Array Container::fetched(const Array& held) const {
  const Resident* resident = resident_in(held);
  if (!resident) return held;
  {
    const std::lock_guard lock(mutex_);
    if (fetched_ && value_.object() == resident) return *fetched_;
  }
  Array copy = resident->fetch();
  const std::lock_guard lock(mutex_);
  if (!fetched_ && value_.object() == resident) fetched_ = copy;
  return copy;
}

Array Container::lend() const {
  const HeldValue kept(*this);  // the old value is released after the lock
  Array value = fetched(kept.value);
  const std::lock_guard lock(mutex_);
  if (value_.object() == kept.value.object() && value_.data() == kept.value.data()) {
    value_ = value;
    fetched_.reset();
    is_lent_ = true;
  }
  return value;
}

bool Container::may_be_kept() const {
  const std::lock_guard lock(mutex_);
  return !is_lent_;
}

void Container::keep(const Array& value, const Array& on_device) const {
  Array before = value;  // keeps the value alive until the lock is released
  const std::lock_guard lock(mutex_);
  if (value_.object() || is_lent_ || value_.data() != value.data()) return;
  fetched_ = value_;
  value_ = on_device;
}

void Container::set(const Array& value, Borrow borrow) {
  Array filtered = type_->filter(value);
  Array next = borrow == Borrow::Yes ? filtered : filtered.copy();
  // Old values are released after all locks: a release may wait for others (for memory of Python, on the interpreter's
  // lock).
  std::optional<Array> spare, fetched;
  const SharedClaim claim = SharedClaim::of({this}, {this});
  SharedAccess(claim).commit([&] {
    const std::lock_guard lock(mutex_);
    std::swap(value_, next);
    std::swap(spare_, spare);
    std::swap(fetched_, fetched);
    is_lent_ = borrow == Borrow::Yes;
  });
}

void Container::update(Array value, std::vector<Array>& released) const noexcept {
  const std::lock_guard lock(mutex_);
  std::swap(value_, value);
  is_lent_ = false;
  if (const Resident* before = resident_in(value)) before->replace();
  if (fetched_) released.push_back(std::move(*fetched_));
  fetched_.reset();
  if (spare_) released.push_back(std::move(*spare_));
  spare_.reset();
  if (value.shape() == value_.shape() && !value.object() && !value_.object())
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
    std::atomic_thread_fence(std::memory_order_acquire);  // orders writes after the last reader's reads
    return std::move(*spare);
  }
  return Array::empty(type_->storage()->dtype, shape);
}

std::optional<Container::Memories> Container::memories(bool is_updated) const {
  const std::lock_guard lock(mutex_);
  if (value_.object() || fetched_ || !value_.is_contiguous()) return {};
  if (!is_updated) return Memories{value_.mutable_data(), nullptr};
  if (!spare_ || !spare_->is_unique() || spare_->strides() != value_.strides()) return {};
  std::atomic_thread_fence(std::memory_order_acquire);  // orders writes after the last reader's reads
  return Memories{value_.mutable_data(), spare_->mutable_data()};
}

void Container::exchange() const noexcept {
  const std::lock_guard lock(mutex_);
  value_.exchange_memory(*spare_);
  is_lent_ = false;
}

Variable shared(const Array& value, std::string name, Borrow borrow, std::optional<Dims> static_shape) {
  Dims shape = static_shape ? *static_shape : Dims(std::size_t(value.ndim()), unknown_length);
  Type type = tensor_type(value.dtype(), shape);
  return shared_of(type, value, std::move(name), borrow);
}

Variable shared_of(const Type& type, const Array& value, std::string name, Borrow borrow) {
  storage_of(type, "shared");
  Array kept = type->filter(value);
  Variable variable(type, std::move(name));
  variable.node()->leaf =
      Ref<const LeafData>(make_ref<Container>(type, borrow == Borrow::Yes ? kept : kept.copy(), borrow));
  return variable;
}

const Container* container_of(const Variable& variable) {
  if (!variable.defined()) refuse_null_handle("Variable");
  return dynamic_cast<const Container*>(variable.node()->leaf.get());
}

namespace {
Container& require_container(const Variable& variable, std::string_view what) {
  if (auto* container = container_of(variable)) return const_cast<Container&>(*container);
  throw TypeError(cat(what, ": ", variable.str(), " is not a shared variable"));
}
}  // namespace

Array get_value(const Variable& shared, Borrow borrow) {
  const Container& container = require_container(shared, "get_value");
  return borrow == Borrow::Yes ? container.lend() : container.get().copy();
}

void set_value(const Variable& shared, const Array& value, Borrow borrow) {
  require_container(shared, "set_value").set(value, borrow);
}

}  // namespace bitale
