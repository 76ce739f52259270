// RandomType: the state of a random generator. A value is a vector of words (bit_generator.hpp), which native code
// reads and writes; a draw gives the next state beside what was drawn. Nobody else can compute with the words: to ops
// of tensors the type is none.
#pragma once

#include "bitale/core/bit_generator.hpp"
#include "bitale/graph/type.hpp"

namespace bitale {

class RandomType final : public TypeBase {
 public:
  explicit RandomType(BitGenerator generator);
  const BitGenerator generator;

  bool equals(const TypeBase& other) const override;
  bool is_super(const TypeBase& other) const override { return equals(other); }
  std::string str() const override;  // "RandomGeneratorType", "RandomGeneratorType(Philox)"
  const TensorType* storage() const override { return as_tensor(storage_); }
  bool is_valid_value(const Array& value) const override;
  Array filter(const Array& value, bool strict, Downcast downcast) const override;

 private:
  const Type storage_;
};

// One of each.
const Type& random_type(BitGenerator generator = BitGenerator::PCG64);
// The random type, or nullptr.
inline const RandomType* as_random(const Type& type) { return dynamic_cast<const RandomType*>(type.get()); }

// A value of random_type(): the state of numpy.random.default_rng(seed).
Array random_state(std::uint64_t seed);
// A value of random_type(BitGenerator::Threefry): the stream of this seed, of which nothing is drawn yet.
Array stream_state(std::uint64_t seed);

}  // namespace bitale
