// Typed attributes of an op, declared once; equality, hash and printing follow from the list.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include "bitale/core/dtype.hpp"
#include "bitale/core/ref.hpp"

namespace bitale {

// An attribute that the graph compares and hashes, but does not look into: an inner graph, an object of Python.
// Immutable and shared. Two ops are equal, and merge, when their opaque attributes are equal; so equality must not
// depend on mutable state.
class Opaque : public RefCounted {
 public:
  virtual bool equals(const Opaque& other) const = 0;
  virtual std::size_t hash() const = 0;  // equal objects have equal hashes
  virtual std::string text() const = 0;  // for labels and errors: short, in one line
};
struct OpaqueAttribute {
  Ref<const Opaque> object;  // not null
  bool operator==(const OpaqueAttribute& other) const {
    return object == other.object || object->equals(*other.object);
  }
};

using IntList = std::vector<std::int64_t>;
using AttributeValue = std::variant<bool, std::int64_t, double, std::string, DType, IntList, OpaqueAttribute>;

struct Attribute {
  std::string_view name;
  AttributeValue value;
  bool operator==(const Attribute&) const = default;
};
using Attributes = std::vector<Attribute>;

std::string attribute_text(const AttributeValue& value);  // in Python's notation: "True", "[0, 1]", "float64"
std::size_t attribute_hash(const AttributeValue& value);

template <class Owner, class T>
struct AttributeField {
  std::string_view name;
  T Owner::*member;
};
template <class Owner, class T>
constexpr AttributeField<Owner, T> attribute(std::string_view name, T Owner::*member) {
  return {name, member};
}
template <class... Fields>
constexpr auto attribute_list(Fields... fields) {
  return std::tuple<Fields...>(fields...);
}

// Converts a member to an attribute value; overload to_attribute for other types (found by argument-dependent lookup).
inline AttributeValue to_attribute(bool v) { return v; }
inline AttributeValue to_attribute(int v) { return std::int64_t(v); }
inline AttributeValue to_attribute(std::int64_t v) { return v; }
inline AttributeValue to_attribute(double v) { return v; }
inline AttributeValue to_attribute(const std::string& v) { return v; }
inline AttributeValue to_attribute(DType v) { return v; }
inline AttributeValue to_attribute(const IntList& v) { return v; }
inline AttributeValue to_attribute(const std::vector<int>& v) { return IntList(v.begin(), v.end()); }
template <std::derived_from<Opaque> T>
AttributeValue to_attribute(const Ref<const T>& v) {
  return OpaqueAttribute{v};
}

template <class Owner, class List>
Attributes collect_attributes(const Owner& owner, const List& fields) {
  Attributes out;
  std::apply([&](auto&... f) { (out.push_back(Attribute{f.name, to_attribute(owner.*(f.member))}), ...); }, fields);
  return out;
}

}  // namespace bitale
