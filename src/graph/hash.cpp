// The hash of an array's bits.
#include "graph/hash.hpp"

#include <bit>
#include <functional>
#include <string_view>
#include <type_traits>

namespace bitale {

namespace {

template <class T>
std::size_t hash_elements(std::size_t seed, const T* data, std::size_t n) {
  if constexpr (is_float_type<T>) {
    using Bits = std::conditional_t<sizeof(T) == 2, std::uint16_t,
                                    std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>;
    for (std::size_t i = 0; i < n; ++i)
      seed = hash_mix(seed, data[i] == data[i] ? std::size_t(std::bit_cast<Bits>(data[i])) : 1);
    return seed;
  } else {
    std::string_view bytes(reinterpret_cast<const char*>(data), n * sizeof(T));
    return hash_mix(seed, std::hash<std::string_view>{}(bytes));
  }
}

}  // namespace

std::size_t hash_array(const Array& value) {
  std::size_t seed = hash_mix(0, std::size_t(value.dtype()));
  for (std::int64_t length : value.shape()) seed = hash_mix(seed, std::size_t(length));
  Array flat = (is_complex(value.dtype()) ? value.as_pairs() : value).contiguous();
  return visit_dtype(flat.dtype(), [&]<class T>() {
    return hash_elements(seed, static_cast<const T*>(flat.data()), std::size_t(flat.size()));
  });
}

}  // namespace bitale
