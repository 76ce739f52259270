// The handwritten kernels of kernels.cpp, compiled with -ffast-math, for programs that compare with them. The library
// is opened after Bitale's first matrix product: then both use one copy of OpenBLAS, with the kernels that Bitale
// selects.
#pragma once

#include <dlfcn.h>

#include <bitale/bitale.hpp>
#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace bench {

using GroupValue = void(std::int64_t n, const double* y, const double* x, const std::int64_t* group, const double* mu,
                        double b, double log_sigma, double* value);
using GroupModel = void(std::int64_t n, const double* y, const double* x, const std::int64_t* group,
                        std::int64_t groups, const double* mu, double b, double log_sigma, double* value, double* by_mu,
                        double* by_b, double* by_log_sigma);
using Matmul = void(std::int64_t n, const double* a, const double* b, double* out);

inline void* open_by_hand() {
  const auto a = bitale::matrix("a");
  bitale::function({a}, bitale::dot(a, a))({bitale::Array::full(bitale::DType::Float64, {32, 32}, 1.0)});
  const auto file = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "libbench_peers_fast_native.so";
  if (void* library = dlopen(file.c_str(), RTLD_NOW)) return library;
  throw std::runtime_error(dlerror());
}

template <class F>
F* by_hand(const char* name) {
  static void* const library = open_by_hand();
  if (void* found = dlsym(library, name)) return reinterpret_cast<F*>(found);
  throw std::runtime_error(dlerror());
}

}  // namespace bench
