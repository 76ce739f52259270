#include "runtime/search.hpp"

#include <algorithm>
#include <type_traits>

#include "bitale/runtime/functions.hpp"

namespace bitale::runtime {

namespace {

template <class T>
bool before(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) return a < b || (a == a && b != b);
  return a < b;
}

template <class T>
void search_all(std::int64_t length, std::int64_t count, bool right, const T* x, const T* v, std::int64_t* to) {
  for (std::int64_t i = 0; i < count; ++i)
    to[i] =
        (right ? std::upper_bound(x, x + length, v[i], before<T>) : std::lower_bound(x, x + length, v[i], before<T>)) -
        x;
}

}  // namespace

}  // namespace bitale::runtime

extern "C" {
#define X(id, name, suffix, T, ...)                                                                                  \
  void bt_searchsorted_##suffix(std::int64_t length, std::int64_t count, std::int64_t right, const T* x, const T* v, \
                                std::int64_t* to) noexcept {                                                         \
    bitale::runtime::search_all(length, count, right != 0, x, v, to);                                                \
  }
BITALE_SORTED_DTYPES(X)
#undef X
}

namespace bitale::runtime {

namespace {

constexpr std::string_view search_c =
    R"(// For each element of v, how many elements of x, which increase, come before it, or, right, do not come after it.
static void bt_searchsorted_$S(int64_t length, int64_t count, int64_t right, const $T *x, const $T *v, int64_t *to) {
  for (int64_t i = 0; i < count; ++i) {
    int64_t low = 0, high = length;
    while (low < high) {
      const int64_t middle = low + (high - low) / 2;
      const $T a = right ? v[i] : x[middle], b = right ? x[middle] : v[i];
      const bool is_before = $L;
      if (is_before != (right != 0))
        low = middle + 1;
      else
        high = middle;
    }
    to[i] = low;
  }
}
)";

template <class T, class F>
RuntimeFunction search_row(std::string_view name, F* function, std::string_view suffix) {
  RuntimeFunction out = runtime_function(name, function, "length count right x v to");
  out.c_text = search_c;
  out.with = {{"$S", suffix},
              {"$T", dtype_record(dtype_of<T>::value).c},
              {"$L", std::is_floating_point_v<T> ? "a < b || (a == a && b != b)" : "a < b"}};
  return out;
}

#define X(id, name, suffix, T, ...) search_row<T>("bt_searchsorted_" #suffix, bt_searchsorted_##suffix, #suffix),
const RegisterFunctions search_functions{BITALE_SORTED_DTYPES(X)};
#undef X

}  // namespace

}  // namespace bitale::runtime
