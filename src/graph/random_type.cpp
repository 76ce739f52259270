#include "bitale/graph/random_type.hpp"

#include <array>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"

namespace bitale {

RandomType::RandomType(BitGenerator generator)
    : generator(generator), storage_(tensor_type(DType::UInt64, Dims{state_words(generator)})) {}

bool RandomType::equals(const TypeBase& other) const {
  auto* type = dynamic_cast<const RandomType*>(&other);
  return type && type->generator == generator;
}

std::string RandomType::str() const {
  return generator == BitGenerator::PCG64 ? "RandomGeneratorType"
                                          : cat("RandomGeneratorType(", bit_generator_name(generator), ")");
}

namespace {

std::string_view refusal(const RandomType& type, const Array& value) {
  const Array words = value.contiguous();
  return refuse_state(type.generator, {static_cast<const std::uint64_t*>(words.data()), std::size_t(words.size())});
}

}  // namespace

bool RandomType::is_valid_value(const Array& value) const {
  return TypeBase::is_valid_value(value) && refusal(*this, value).empty();
}

Array RandomType::filter(const Array& value, Strict strict, Downcast downcast) const {
  if (TypeBase::is_valid_value(value))
    if (const std::string_view what = refusal(*this, value); !what.empty())
      throw ValueError(cat(str(), ": the words are not a state of a ", bit_generator_name(generator), ": ", what));
  return TypeBase::filter(value, strict, downcast);
}

const Type& random_type(BitGenerator generator) {
  static const auto& types = *new const auto([] {
    std::array<Type, bit_generator_count> all;
    for (int kind = 0; kind < bit_generator_count; ++kind)
      all[std::size_t(kind)] = make_ref<const RandomType>(BitGenerator(kind));
    return all;
  }());
  return types[std::size_t(generator)];
}

Array random_state(std::uint64_t seed) { return Array(seeded_state(seed)); }
Array stream_state(std::uint64_t seed) { return Array(std::vector<std::uint64_t>{seed, 0}); }

}  // namespace bitale
