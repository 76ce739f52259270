// Text and hash of attribute values.
#include "bitale/graph/attributes.hpp"

#include <functional>

#include "bitale/core/text.hpp"
#include "graph/hash.hpp"

namespace bitale {

namespace {

struct Text {
  std::string operator()(bool v) const { return v ? "True" : "False"; }
  std::string operator()(std::int64_t v) const { return std::to_string(v); }
  std::string operator()(double v) const { return number_text(v); }
  std::string operator()(const std::string& v) const { return cat("'", v, "'"); }
  std::string operator()(DType v) const { return std::string(dtype_name(v)); }
  std::string operator()(const IntList& v) const {
    std::vector<std::string> parts;
    for (std::int64_t i : v) parts.push_back(std::to_string(i));
    return cat("[", join(parts, ", "), "]");
  }
  std::string operator()(const OpaqueAttribute& v) const { return v.object->text(); }
};

struct Hash {
  template <class T>
  std::size_t operator()(const T& v) const {
    return std::hash<T>{}(v);
  }
  std::size_t operator()(const IntList& v) const {
    std::size_t seed = v.size();
    for (std::int64_t i : v) seed = hash_mix(seed, std::size_t(i));
    return seed;
  }
  std::size_t operator()(const OpaqueAttribute& v) const { return v.object->hash(); }
};

}  // namespace

std::string attribute_text(const AttributeValue& value) { return std::visit(Text(), value); }

std::size_t attribute_hash(const AttributeValue& value) { return hash_mix(value.index(), std::visit(Hash(), value)); }

}  // namespace bitale
