// The defaults of Op's virtual functions. Every default is either harmless or an explicit "not available".
#include "bitale/graph/op.hpp"

#include <functional>
#include <mutex>
#include <typeinfo>
#include <unordered_map>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/graph/range.hpp"
#include "core/keep_loaded.hpp"
#include "graph/batch.hpp"
#include "graph/hash.hpp"

namespace bitale {

std::string Op::label() const {
  std::vector<std::string> parts;
  for (auto& attribute : attributes()) parts.push_back(cat(attribute.name, "=", attribute_text(attribute.value)));
  return parts.empty() ? std::string(name()) : cat(name(), "{", join(parts, ", "), "}");
}

bool Op::equals(const Op& other) const {
  if (this == &other) return true;
  return hash() == other.hash() && typeid(*this) == typeid(other) && name() == other.name() &&
         attributes() == other.attributes();
}

std::size_t Op::hash() const {
  std::size_t known = hash_.value.load(std::memory_order_relaxed);
  if (known) return known;
  std::size_t seed = std::hash<std::string_view>{}(name());
  for (auto& attribute : attributes()) {
    seed = hash_mix(seed, std::hash<std::string_view>{}(attribute.name));
    seed = hash_mix(seed, attribute_hash(attribute.value));
  }
  if (!seed) seed = 1;  // zero means not computed yet
  hash_.value.store(seed, std::memory_order_relaxed);
  return seed;
}

namespace {

std::uint32_t number_of(const std::string& kind, const Op& op) {
  static auto& mutex = *new std::mutex;
  static auto& numbers = *new std::unordered_map<std::string, std::uint32_t>;
  std::lock_guard lock(mutex);
  const auto [at, is_new] = numbers.try_emplace(kind, std::uint32_t(numbers.size() + 1));
  if (is_new) keep_loaded(&typeid(op));
  return at->second;
}

}  // namespace

std::uint32_t Op::kind() const {
  std::uint32_t known = kind_.value.load(std::memory_order_relaxed);
  if (known) return known;
  known = number_of(kind_name(), *this);
  kind_.value.store(known, std::memory_order_relaxed);
  return known;
}

std::vector<Shape> Op::infer_shape(const Apply&, std::span<const Shape>) const { return {}; }

bool Op::emit(Lowering&, const Apply&) const { return false; }

Variables Op::pullback(const Apply& node, std::span<const Variable>) const {
  Variables out;
  for (std::size_t i = 0; i < node.inputs().size(); ++i)
    out.push_back(undefined_gradient(cat(label(), " has no pullback")));
  return out;
}

Variables Op::pushforward(const Apply&, std::span<const Variable>) const {
  throw NotImplementedError(cat(label(), " has no pushforward"));
}

std::vector<std::vector<bool>> Op::connection_pattern(const Apply& node) const {
  return std::vector(node.inputs().size(), std::vector(node.output_count(), true));
}

Apply Op::vectorize(const Apply& node, std::span<const Variable> batched) const {
  if (const auto* along = dynamic_cast<const VectorizesAlong*>(this)) return along->vectorize_along({node, batched});
  throw NotImplementedError(cat(label(), " has no vectorize: it can't take batches of inputs"));
}

std::vector<int> Op::view_of(const Apply&, int) const { return {}; }
std::vector<int> Op::destroys(const Apply&, int) const { return {}; }
Range Op::range(const Apply& node, int output, InputRanges& inputs) const {
  const std::vector<int> viewed = view_of(node, output);
  return viewed.size() == 1 ? inputs.of(viewed[0]) : Range();
}

PartsOfOutputs Op::complex_parts(const Apply&, std::span<const ComplexParts>) const { return {}; }

bool Op::may_fold(const Apply&) const { return true; }

Variable Op::operator()(std::span<const Variable> inputs) const {
  // A node shares its op, which would be deleted with the last node.
  if (use_count() == 0)
    throw ValueError(cat(label(),
                         ": expected an op that handles share, got a local or global object; create it by make_ref<",
                         name(), ">(...)"));
  Apply node = make_node(inputs);
  if (node.output_count() != 1)
    throw InternalError(cat(label(), ": a call needs exactly one output, the node has ", node.output_count()));
  return node.output();
}

Variable Op::operator()(std::initializer_list<Variable> inputs, std::source_location where) const {
  const LocationScope here(where);
  return (*this)(std::span<const Variable>(inputs.begin(), inputs.size()));
}

}  // namespace bitale
