// Shared variables: a value that lives between calls and that functions may update. Functions hold the container, not a
// copy; reads and writes are atomic (a reader sees a whole value, never half of one).
#pragma once

#include <mutex>
#include <optional>
#include <string>

#include "bitale/graph/variable.hpp"

namespace bitale {

// The storage cell of a shared variable: a value of one type.
class Container final : public LeafData {
 public:
  Container(Type type, Array value);
  const TensorType& type() const { return *as_tensor(type_); }
  Array get() const;  // the handle; its data is never written in place while shared
  std::optional<Array> present_value() const override { return get(); }
  // Filters the value (TypeError as for a function's input) and stores it.
  void set(const Array& value, bool borrow = false);
  // For updates by functions: stores a value that is already of the right type, and keeps the old one's memory for the
  // next.
  void update(Array value) const;
  // Memory of that shape for the next value: that of the value before the present one, unless somebody still reads it.
  Array memory_for_update(const Dims& shape) const;

 private:
  const Type type_;
  mutable std::mutex mutex_;
  mutable Array value_;
  mutable std::optional<Array> spare_;
};

// A shared variable: the static shape is all unknown unless given; the dtype is the value's. The value is copied unless
// `borrow`.
Variable shared(const Array& value, std::string name = {}, bool borrow = false, std::optional<Dims> static_shape = {});
// The container of a shared variable, or nullptr.
const Container* container_of(const Variable& variable);
inline bool is_shared(const Variable& variable) { return container_of(variable) != nullptr; }
// TypeError when the variable is not shared. get: a copy unless `borrow`.
Array get_value(const Variable& shared, bool borrow = false);
void set_value(const Variable& shared, const Array& value, bool borrow = false);

}  // namespace bitale
