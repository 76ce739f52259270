// Type: what kind of value a Variable stands for, and what such a value is. Every value is an Array; a type defines the
// memory of its values (`storage`), which Arrays are values of it, and when two are equal. TensorType is an array of
// one dtype with a static shape in which each length is known or not; a static length of 1 is what broadcasts.
// RandomType (random_type.hpp) is the state of a generator, words that native code reads and writes. HostType is a type
// of objects that only the host looks into. DisconnectedType and NullType are the explicit results of differentiation
// for "no connection" and "no derivative, because"; they have no values.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "bitale/core/array.hpp"
#include "bitale/core/ref.hpp"
#include "bitale/core/view.hpp"

namespace bitale {

class TensorType;

enum class Strict : bool { No, Yes };                 // whether only values that need no conversion are accepted
enum class Downcast { Never, FloatLiteral, Always };  // allow_input_downcast = False, None, True

class TypeBase : public RefCounted {
 public:
  virtual bool equals(const TypeBase& other) const = 0;
  // Whether every value of `other` is a value of this type.
  virtual bool is_super(const TypeBase& other) const = 0;
  virtual std::string str() const = 0;
  virtual const TensorType* tensor() const { return nullptr; }  // itself, if it is one

  // ---- values ----
  // The memory of a value: dtype, rank and lengths of the Array that it is. nullptr: the type has no values.
  virtual const TensorType* storage() const { return nullptr; }
  // Whether values are objects of the host, in Arrays that hold them: native code only passes on their addresses.
  virtual bool is_host_only() const { return false; }
  // Whether `value` is a value of this type as it is.
  virtual bool is_valid_value(const Array& value) const;
  // `value` as a value of this type, converted where that is safe or allowed. TypeError or ValueError saying what was
  // expected and what was given. Default: `value` itself where it is valid.
  virtual Array filter(const Array& value, Strict strict = Strict::No, Downcast downcast = Downcast::Never) const;
  // Whether two values are equal. Default: bit for bit; for objects, by HostObject::equals.
  virtual bool values_eq(const Array& a, const Array& b) const { return identical(a, b); }
  // Whether two values are equal up to rounding.
  virtual bool values_eq_approx(const Array& a, const Array& b) const { return values_eq(a, b); }
};
using Type = Ref<const TypeBase>;

inline constexpr std::int64_t unknown_length = -1;

class TensorType final : public TypeBase {
 public:
  TensorType(DType given_dtype, Dims given_shape) : dtype(given_dtype), shape(std::move(given_shape)) {}
  const DType dtype;
  const Dims shape;  // unknown_length where not known

  int ndim() const { return int(shape.size()); }
  const TensorType* tensor() const override { return this; }
  const TensorType* storage() const override { return this; }
  bool is_valid_value(const Array& value) const override;
  Array filter(const Array& value, Strict strict, Downcast downcast) const override;
  bool values_eq_approx(const Array& a, const Array& b) const override;  // numpy.allclose, nan equals nan
  bool broadcasts(int axis) const { return shape[std::size_t(axis)] == 1; }
  bool equals(const TypeBase& other) const override;
  bool is_super(const TypeBase& other) const override;
  std::string str() const override;  // "TensorType(float64, shape=(None, 3))"
  std::string short_str() const;     // "Matrix(float64, shape=(?, 3))", as dprint(print_type=True) shows
};

class DisconnectedType final : public TypeBase {
 public:
  bool equals(const TypeBase& other) const override;
  bool is_super(const TypeBase& other) const override { return equals(other); }
  std::string str() const override { return "DisconnectedType"; }
};

class NullType final : public TypeBase {
 public:
  explicit NullType(std::string given_why) : why(std::move(given_why)) {}
  const std::string why;
  bool equals(const TypeBase& other) const override;
  bool is_super(const TypeBase& other) const override { return equals(other); }
  std::string str() const override { return "NullType(" + why + ")"; }
};

// A type of objects of the host. `accepts` tells its values from other objects; null: all objects are values. Two types
// are equal when name and `accepts` are: a name stands for one kind of object.
class HostType : public TypeBase {
 public:
  using Accepts = bool (*)(const HostObject&);
  HostType(std::string given_name, Accepts accepts) : name(std::move(given_name)), accepts_(accepts) {}
  const std::string name;
  bool equals(const TypeBase& other) const override;
  bool is_super(const TypeBase& other) const override { return equals(other); }
  std::string str() const override { return name; }
  const TensorType* storage() const final;
  bool is_host_only() const final { return true; }
  bool is_valid_value(const Array& value) const override;

 private:
  const Accepts accepts_;
};
// The type of the objects of class T, a HostObject.
template <class T>
Type host_type(std::string name) {
  return make_ref<const HostType>(std::move(name),
                                  [](const HostObject& object) { return dynamic_cast<const T*>(&object) != nullptr; });
}

// ValueError for a negative length.
Type tensor_type(DType dtype, const Dims& shape);
Type tensor_type(DType dtype, int ndim);
// The tensor type, or nullptr.
inline const TensorType* as_tensor(const Type& type) { return type ? type->tensor() : nullptr; }
// The static lengths, per dimension, that two shapes have when broadcast together. ShapeError naming the dimension.
Dims broadcast_static_shapes(const Dims& a, const Dims& b);

// Whether `value` is a value of `type` as it is.
bool fits(const TensorType& type, const Array& value);
// `value` as a value of `type`: converted where that is safe (or allowed), shape checked.
// TypeError (rank, dtype, static length) saying what was expected and what was given.
Array filter(const TensorType& type, const Array& value, Strict strict = Strict::No,
             Downcast downcast = Downcast::Never);
// The storage type of the values of a type. TypeError naming `who` when the type has no values.
const TensorType& storage_of(const Type& type, std::string_view who);
// The value whose memory is viewed, valid as long as that memory is; an object is held.
Array borrow_value(const TypeBase& type, const View& view);

}  // namespace bitale
