// Shared variables: a value that is kept between calls and that functions may update. Functions hold the container, not
// a copy. Calls that update the same shared variable are serialized, from reading to writing, across all functions and
// threads; set_value waits for them, too. Calls without updates wait for no other call: they read a consistent snapshot
// of all their shared variables.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "bitale/core/error.hpp"
#include "bitale/graph/variable.hpp"

namespace bitale {

// A call inside a call would change what the outer one changes, or wait for it forever.
class UpdateConflictError final : public Error {
 public:
  using Error::Error;
};

// Whether a value is used where it is, else a copy of it.
enum class Borrow : bool { No, Yes };

// The storage cell of a shared variable: a value of one type.
class Container final : public LeafData {
 public:
  // Borrowed: the memory of the value has other owners, too, which may write to it.
  Container(Type type, Array value, Borrow borrow = Borrow::No);
  const Type& type() const { return type_; }
  Array get() const;   // the handle; its data is never written in place while shared
  Array lend() const;  // the same, for a caller that may write to it: the value is not kept on a device
  // held: the value as it is stored, which may be an Array that holds a Resident; fetched: the contents of such a
  // value. A reader of a Resident must hold it when it runs at the same time as calls that update the variable.
  Array held() const;
  Array fetched(const Array& held) const;
  // The variable's value, which is `value`, has a copy on a device: calls there use that from now on.
  void keep(const Array& value, const Array& on_device) const;
  // Whether the value's memory has no other owner that may write, so that a copy on a device stays valid.
  bool may_be_kept() const;
  std::optional<Array> present_value() const override { return get(); }
  // Filters the value (TypeError as for a function's input) and stores it, when no call is running that updates the
  // variable, or that reads it to update others. UpdateConflictError from inside a call that updates it.
  void set(const Array& value, Borrow borrow = Borrow::No);
  // For updates by functions: stores a value that already has the right type, and keeps the old value's memory for the
  // next update. Arrays to be released are appended; there must be room for three.
  void update(Array value, std::vector<Array>& released) const noexcept;
  // Memory of that shape for the next value: the memory of the value before the present one, unless it still has a
  // reader.
  Array memory_for_update(const Dims& shape) const;
  // The same without handles, for a call that holds the container until its end, exclusively or with other readers.
  // now: the value, C-contiguous; next: memory of its shape without readers. nullopt where one of them is not
  // available.
  struct Memories {
    void *now, *next;
  };
  std::optional<Memories> memories(bool is_updated) const;
  // Exchanges the value with the memory `next` of memories(true).
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
Variable shared(const Array& value, std::string name = {}, Borrow borrow = Borrow::No,
                std::optional<Dims> static_shape = {});
// A shared variable of any type. TypeError for a value that the type does not accept.
Variable shared_of(const Type& type, const Array& value, std::string name = {}, Borrow borrow = Borrow::No);
// The container of a shared variable, or nullptr.
const Container* container_of(const Variable& variable);
inline bool is_shared(const Variable& variable) { return container_of(variable) != nullptr; }
// TypeError when the variable is not shared. get: a copy unless `borrow`.
Array get_value(const Variable& shared, Borrow borrow = Borrow::No);
void set_value(const Variable& shared, const Array& value, Borrow borrow = Borrow::No);

}  // namespace bitale
