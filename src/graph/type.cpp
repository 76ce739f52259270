// Types of variables, and the conversion of values to types by PyTensor's rules for inputs.
#include "bitale/graph/type.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "bitale/core/config.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"

namespace bitale {

namespace {

std::string shape_text(const Dims& shape, std::string_view unknown) {
  std::vector<std::string> parts;
  for (std::int64_t length : shape)
    parts.push_back(length == unknown_length ? std::string(unknown) : std::to_string(length));
  return cat("(", join(parts, ", "), shape.size() == 1 ? ",)" : ")");
}

}  // namespace

// ---- the types -----------------------------------------------------------------------------------------------------

bool TensorType::equals(const TypeBase& other) const {
  if (this == &other) return true;
  auto* tensor = other.tensor();
  return tensor && tensor->dtype == dtype && tensor->shape == shape;
}

bool TensorType::is_super(const TypeBase& other) const {
  if (this == &other) return true;
  auto* tensor = other.tensor();
  if (!tensor || tensor->dtype != dtype || tensor->ndim() != ndim()) return false;
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (shape[d] != unknown_length && shape[d] != tensor->shape[d]) return false;
  return true;
}

std::string TensorType::str() const {
  return cat("TensorType(", dtype_name(dtype), ", shape=", shape_text(shape, "None"), ")");
}

std::string TensorType::short_str() const {
  static constexpr std::string_view names[] = {"Scalar", "Vector", "Matrix"};
  std::string name = ndim() <= 2 ? std::string(names[ndim()]) : cat("Tensor", ndim());
  return cat(name, "(", dtype_name(dtype), ", shape=", shape_text(shape, "?"), ")");
}

bool TensorType::is_valid_value(const Array& value) const { return fits(*this, value); }

Array TensorType::filter(const Array& value, Strict strict, Downcast downcast) const {
  return bitale::filter(*this, value, strict, downcast);
}

bool TensorType::values_eq_approx(const Array& a, const Array& b) const {
  if (is_discrete(a.dtype()) || is_discrete(b.dtype())) return identical(a, b);
  if (is_storage_format(a.dtype()) || is_storage_format(b.dtype())) return allclose(a, b, 1e-2, 1e-3);
  const auto is_narrow = [](const Array& x) { return component_dtype(x.dtype()) == DType::Float32; };
  const bool narrow = is_narrow(a) || is_narrow(b);
  return narrow ? allclose(a, b, 1e-4, 1e-5) : allclose(a, b, 1e-5, 1e-8);
}

// ---- values --------------------------------------------------------------------------------------------------------

bool TypeBase::is_valid_value(const Array& value) const {
  return storage() && !value.object() && fits(*storage(), value);
}

namespace {
std::string kind_of_value(const Array& value) {
  return value.object()
             ? value.str()
             : cat("an array of dtype ", dtype_name(value.dtype()), " and shape ", tuple_text(value.shape()));
}
}  // namespace

Array TypeBase::filter(const Array& value, Strict, Downcast) const {
  if (is_valid_value(value)) return value;
  throw TypeError(cat("expected a value of type ", str(), ", got ", kind_of_value(value)));
}

const TensorType& storage_of(const Type& type, std::string_view who) {
  if (const TensorType* storage = type ? type->storage() : nullptr) return *storage;
  throw TypeError(cat(who, ": the type ", type ? type->str() : std::string("null"), " has no values"));
}

Array borrow_value(const TypeBase& type, const View& view) {
  if (type.is_host_only()) {
    std::uintptr_t address = 0;
    std::memcpy(&address, view.data, sizeof address);
    return Array::holding(Ref<const HostObject>(reinterpret_cast<const HostObject*>(address)));
  }
  const TensorType& storage = *type.storage();
  return borrow(view, storage.dtype, storage.ndim());
}

bool HostType::equals(const TypeBase& other) const {
  auto* type = dynamic_cast<const HostType*>(&other);
  return type && (type == this || (type->name == name && type->accepts_ == accepts_));
}

const TensorType* HostType::storage() const {
  static const Type& word = *new Type(tensor_type(DType::UInt64, 0));
  return as_tensor(word);
}

bool HostType::is_valid_value(const Array& value) const {
  return value.object() && (!accepts_ || accepts_(*value.object()));
}

bool DisconnectedType::equals(const TypeBase& other) const {
  return dynamic_cast<const DisconnectedType*>(&other) != nullptr;
}

bool NullType::equals(const TypeBase& other) const { return dynamic_cast<const NullType*>(&other) != nullptr; }

namespace {

// Most variables have few dimensions and no known lengths: they share their types.
constexpr std::size_t highest_common_rank = 4;

const Type& common_type(DType dtype, std::size_t rank) {
  using Ranks = std::array<Type, highest_common_rank + 1>;
  static const auto& types = *new const auto([] {
    std::array<Ranks, std::size_t(dtype_count)> all;
    for (std::size_t d = 0; d < all.size(); ++d)
      for (std::size_t r = 0; r < all[d].size(); ++r)
        all[d][r] = make_ref<const TensorType>(DType(d), Dims(r, unknown_length));
    return all;
  }());
  return types[std::size_t(dtype)][rank];
}

}  // namespace

Type tensor_type(DType dtype, const Dims& shape) {
  for (std::int64_t length : shape)
    if (length < 0 && length != unknown_length)
      throw ValueError(cat("tensor type: a static length must be at least 0 (or unknown), got ", length, " in ",
                           shape_text(shape, "None")));
  const bool is_common =
      shape.size() <= highest_common_rank && std::ranges::count(shape, unknown_length) == int(shape.size());
  return is_common ? common_type(dtype, shape.size()) : make_ref<const TensorType>(dtype, shape);
}

Type tensor_type(DType dtype, int ndim) {
  if (ndim < 0) throw ValueError(cat("tensor type: the number of dimensions must be at least 0, got ", ndim));
  return tensor_type(dtype, Dims(std::size_t(ndim), unknown_length));
}

Dims broadcast_static_shapes(const Dims& a, const Dims& b) {
  const Dims& longer = a.size() >= b.size() ? a : b;
  const Dims& shorter = a.size() >= b.size() ? b : a;
  Dims out = longer;
  std::size_t offset = longer.size() - shorter.size();
  for (std::size_t d = 0; d < shorter.size(); ++d) {
    std::int64_t& length = out[offset + d];
    std::int64_t other = shorter[d];
    if (length == other || other == 1 || (other == unknown_length && length != 1)) continue;
    if (length != 1 && length != unknown_length)
      throw ShapeError(cat("lengths ", a.size() >= b.size() ? length : other, " and ",
                           a.size() >= b.size() ? other : length, " can't broadcast in dimension ", offset + d, " of ",
                           shape_text(a, "None"), " and ", shape_text(b, "None")));
    length = other;
  }
  return out;
}

// ---- filter: a value as a value of a type --------------------------------------------------------------------------

namespace {

std::string value_text(const Array& value) {
  return cat("an array of dtype ", dtype_name(value.dtype()), " and shape ", tuple_text(value.shape()));
}

// The exception for Python floats, which are valid float32 inputs if floatX is float32.
bool is_float_literal(const TensorType& type, const Array& value) {
  return value.ndim() == 0 && value.dtype() == DType::Float64 && type.dtype == config::float_x();
}

Array convert(const TensorType& type, const Array& value, bool strict, Downcast downcast) {
  if (value.dtype() == type.dtype) return value;
  if (strict)
    throw TypeError(cat("expected dtype ", dtype_name(type.dtype), " exactly (strict), got ", value_text(value)));
  if (downcast == Downcast::Always) return value.astype(type.dtype);  // converts as cast does
  if (can_cast_safely(value.dtype(), type.dtype)) return value.astype(type.dtype);
  if (downcast == Downcast::FloatLiteral && is_float_literal(type, value)) return value.astype(type.dtype);
  throw TypeError(cat("expected ", type.str(), ", got ", value_text(value), ": ", dtype_name(value.dtype()),
                      " can't be converted to ", dtype_name(type.dtype),
                      " without risk of loss; cast it, or allow it by the option allow_input_downcast"));
}

}  // namespace

bool fits(const TensorType& type, const Array& value) {
  if (value.object()) return false;
  if (value.dtype() != type.dtype || value.ndim() != type.ndim()) return false;
  for (int d = 0; d < type.ndim(); ++d) {
    const std::int64_t length = type.shape[std::size_t(d)];
    if (length != unknown_length && length != value.shape(d)) return false;
  }
  return true;
}

Array filter(const TensorType& type, const Array& value, Strict strict, Downcast downcast) {
  value.require_defined();
  if (value.object()) throw TypeError(cat("expected ", type.str(), ", got ", value.str()));
  if (value.ndim() != type.ndim())
    throw TypeError(cat("wrong number of dimensions: expected ", type.ndim(), " (", type.str(), "), got ", value.ndim(),
                        " (", value_text(value), ")"));
  for (int d = 0; d < type.ndim(); ++d) {
    std::int64_t length = type.shape[std::size_t(d)];
    if (length != unknown_length && length != value.shape(d))
      throw TypeError(cat("wrong length of dimension ", d, ": expected ", length, " (", type.str(), "), got ",
                          value.shape(d), " (", value_text(value), ")"));
  }
  return convert(type, value, strict == Strict::Yes, downcast);
}

}  // namespace bitale
