// Shared variables: a value that lives between calls and that functions may update. Functions hold the container, not a
// copy. Calls that update the same shared variable follow one another, from reading to writing, whatever functions and
// threads they belong to; set_value waits for them, too. Calls without updates wait for nobody: they read all their
// shared variables as they were at one moment.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "bitale/core/error.hpp"
#include "bitale/graph/variable.hpp"

namespace bitale {

// A call inside a call would change what the outer one changes, or wait for it for ever.
class UpdateConflictError final : public Error {
 public:
  using Error::Error;
};

// The storage cell of a shared variable: a value of one type.
class Container final : public LeafData {
 public:
  // `is_lent`: others have the memory of the value, too, and may write there.
  Container(Type type, Array value, bool is_lent = false);
  const Type& type() const { return type_; }
  Array get() const;   // the handle; its data is never written in place while shared
  Array lend() const;  // the same, to somebody who may write there: the value does not stay on a device
  // The value as it is kept, which may be an Array that holds a Resident; and what `held`, such a value, is. Who reads
  // a Resident beside calls that update the variable holds it.
  Array held() const;
  Array fetched(const Array& held) const;
  // The value, which is `value`, has a copy on a device: calls there take that from now on.
  void keep(const Array& value, const Array& on_device) const;
  // Whether the value's memory is nobody else's, so that a copy on a device stays valid.
  bool may_be_kept() const;
  std::optional<Array> present_value() const override { return get(); }
  // Filters the value (TypeError as for a function's input) and stores it, when no call is under way that updates the
  // variable, or that reads it to update others. UpdateConflictError from inside a call that updates it.
  void set(const Array& value, bool borrow = false);
  // For updates by functions: stores a value that is already of the right type, and keeps the old one's memory for the
  // next. What is to be released is appended; there must be room for three.
  void update(Array value, std::vector<Array>& released) const noexcept;
  // Memory of that shape for the next value: that of the value before the present one, unless somebody still reads it.
  Array memory_for_update(const Dims& shape) const;
  // The same without handles, for a call that holds the container alone, or with other readers, until it has ended.
  // now: the value, in rows; next: memory of its shape that nobody reads. Nothing where one of them is not to be had
  // so.
  struct Memories {
    void *now, *next;
  };
  std::optional<Memories> memories(bool is_updated) const;
  // The value becomes what is in `next` of memories(true), and the other way around.
  void exchange() const noexcept;

 private:
  const Type type_;
  mutable std::mutex mutex_;
  mutable Array value_;
  mutable std::optional<Array> spare_;
  mutable std::optional<Array> fetched_;  // a copy of the Resident that value_ holds
  mutable bool is_lent_;
};

// A shared variable: the static shape is all unknown unless given; the dtype is the value's. The value is copied unless
// `borrow`.
Variable shared(const Array& value, std::string name = {}, bool borrow = false, std::optional<Dims> static_shape = {});
// A shared variable of any type. TypeError for what the type does not accept.
Variable shared_of(const Type& type, const Array& value, std::string name = {}, bool borrow = false);
// The container of a shared variable, or nullptr.
const Container* container_of(const Variable& variable);
inline bool is_shared(const Variable& variable) { return container_of(variable) != nullptr; }
// TypeError when the variable is not shared. get: a copy unless `borrow`.
Array get_value(const Variable& shared, bool borrow = false);
void set_value(const Variable& shared, const Array& value, bool borrow = false);

}  // namespace bitale
