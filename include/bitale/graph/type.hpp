// Type: what kind of value a Variable stands for. TensorType is an array of one dtype with a static shape in which each
// length is known or not; a static length of 1 is what broadcasts. DisconnectedType and NullType are the explicit
// answers of differentiation for "no connection" and "no derivative, because".
#pragma once

#include <string>

#include "bitale/core/array.hpp"
#include "bitale/core/ref.hpp"

namespace bitale {

class TensorType;

class TypeBase : public RefCounted {
 public:
  virtual bool equals(const TypeBase& other) const = 0;
  // Whether every value of `other` is a value of this type.
  virtual bool is_super(const TypeBase& other) const = 0;
  virtual std::string str() const = 0;
  virtual const TensorType* tensor() const { return nullptr; }  // itself, if it is one
};
using Type = Ref<const TypeBase>;

inline constexpr std::int64_t unknown_length = -1;

class TensorType final : public TypeBase {
 public:
  TensorType(DType dtype, Dims shape) : dtype(dtype), shape(std::move(shape)) {}
  const DType dtype;
  const Dims shape;  // unknown_length where not known

  int ndim() const { return int(shape.size()); }
  const TensorType* tensor() const override { return this; }
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
  explicit NullType(std::string why) : why(std::move(why)) {}
  const std::string why;
  bool equals(const TypeBase& other) const override;
  bool is_super(const TypeBase& other) const override { return equals(other); }
  std::string str() const override { return "NullType(" + why + ")"; }
};

// NotImplementedError for a dtype that is declared but not supported, ValueError for a negative length.
Type tensor_type(DType dtype, const Dims& shape);
Type tensor_type(DType dtype, int ndim);
// The tensor type, or nullptr.
inline const TensorType* as_tensor(const Type& type) { return type ? type->tensor() : nullptr; }
// A static length per dimension: the lengths two broadcast shapes give. ShapeError naming the dimension.
Dims broadcast_static_shapes(const Dims& a, const Dims& b);

enum class Downcast { Never, FloatLiteral, Always };  // allow_input_downcast = False, None, True

// Whether `value` is a value of `type` as it is.
bool fits(const TensorType& type, const Array& value);
// `value` as a value of `type`: converted where that is safe (or allowed), shape checked.
// TypeError (rank, dtype, static length) saying what was expected and what came.
Array filter(const TensorType& type, const Array& value, bool strict = false, Downcast downcast = Downcast::Never);

}  // namespace bitale
