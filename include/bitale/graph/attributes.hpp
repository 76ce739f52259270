// Typed attributes of an op, declared once; equality, hash and printing follow from the list.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include "bitale/core/dtype.hpp"

namespace bitale {

using IntList = std::vector<std::int64_t>;
using AttributeValue = std::variant<bool, std::int64_t, double, std::string, DType, IntList>;

struct Attribute {
  std::string_view name;
  AttributeValue value;
  bool operator==(const Attribute&) const = default;
};
using Attributes = std::vector<Attribute>;

std::string attribute_text(const AttributeValue& value);  // Python's way: "True", "[0, 1]", "float64"
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

// Converts a member to an attribute value; overload to_attribute for own types (found by argument-dependent lookup).
inline AttributeValue to_attribute(bool v) { return v; }
inline AttributeValue to_attribute(int v) { return std::int64_t(v); }
inline AttributeValue to_attribute(std::int64_t v) { return v; }
inline AttributeValue to_attribute(double v) { return v; }
inline AttributeValue to_attribute(const std::string& v) { return v; }
inline AttributeValue to_attribute(DType v) { return v; }
inline AttributeValue to_attribute(const IntList& v) { return v; }
inline AttributeValue to_attribute(const std::vector<int>& v) { return IntList(v.begin(), v.end()); }

template <class Owner, class List>
Attributes collect_attributes(const Owner& owner, const List& fields) {
  Attributes out;
  std::apply([&](auto&... f) { (out.push_back(Attribute{f.name, to_attribute(owner.*(f.member))}), ...); }, fields);
  return out;
}

}  // namespace bitale
