// Creates ops from their attributes, for stored graphs. An op whose constructor takes its declared attributes in their
// order needs nothing more; others are registered with a function of their own.
#pragma once

#include <concepts>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/graph/op.hpp"

namespace bitale {

// The inverse of to_attribute; overloaded for own types (found by argument-dependent lookup). Returns false if the
// attribute has another type or an invalid value.
template <class T>
requires requires(const AttributeValue& v) { std::get<T>(v); }
bool from_attribute(const AttributeValue& value, T& out) {
  if (auto* found = std::get_if<T>(&value)) return out = *found, true;
  return false;
}
inline bool from_attribute(const AttributeValue& value, int& out) {
  auto* found = std::get_if<std::int64_t>(&value);
  if (!found || *found < std::numeric_limits<int>::min() || *found > std::numeric_limits<int>::max()) return false;
  return out = int(*found), true;
}
inline bool from_attribute(const AttributeValue& value, std::vector<int>& out) {
  auto* found = std::get_if<IntList>(&value);
  if (!found) return false;
  out.clear();
  for (auto item : *found)
    if (!from_attribute(item, out.emplace_back())) return false;
  return true;
}

template <std::derived_from<Opaque> T>
bool from_attribute(const AttributeValue& value, Ref<const T>& out) {
  auto* found = std::get_if<OpaqueAttribute>(&value);
  auto* object = found ? dynamic_cast<const T*>(found->object.get()) : nullptr;
  if (!object) return false;
  return out = Ref<const T>(object), true;
}

// The attribute of that name, or nothing. Throws a ValueError if it has another type.
template <class T>
std::optional<T> optional_attribute(const Attributes& attributes, std::string_view name) {
  for (auto& attribute : attributes)
    if (attribute.name == name) {
      T out{};
      if (from_attribute(attribute.value, out)) return out;
      throw ValueError(cat("the attribute ", name, " can't be ", attribute_text(attribute.value)));
    }
  return {};
}
// The same, but throws a ValueError if there is none.
template <class T>
T required_attribute(const Attributes& attributes, std::string_view name) {
  if (auto found = optional_attribute<T>(attributes, name)) return *std::move(found);
  throw ValueError(cat("the attribute ", name, " is missing"));
}

template <class Class, class T>
T required_attribute(const Attributes& attributes, const AttributeField<Class, T>& field) {
  return required_attribute<T>(attributes, field.name);
}

template <class Class>
OpRef make_op(const Attributes& attributes) {
  if constexpr (requires { Class::fields; })
    return std::apply(
        [&](auto&... field) -> OpRef { return make_ref<Class>(required_attribute(attributes, field)...); },
        Class::fields);
  else
    return make_ref<Class>();
}

}  // namespace bitale
