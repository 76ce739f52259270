// RandomType: the state of a random generator. A value is a vector of words (bit_generator.hpp), which native code
// reads and writes; a draw returns the next state together with the drawn value. No other op computes with the words:
// for ops of tensors it is not a tensor type.
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
  Array filter(const Array& value, Strict strict, Downcast downcast) const override;

 private:
  const Type storage_;
};

// One shared instance per bit generator.
const Type& random_type(BitGenerator generator = BitGenerator::PCG64);
// The random type, or nullptr.
inline const RandomType* as_random(const Type& type) { return dynamic_cast<const RandomType*>(type.get()); }

// A value of random_type(): the state of numpy.random.default_rng(seed).
Array random_state(std::uint64_t seed);
// A value of random_type(BitGenerator::Threefry): the stream of this seed, from which nothing has been drawn yet.
Array stream_state(std::uint64_t seed);

}  // namespace bitale
