// What OpenBLAS reports about itself.
#include "runtime/blas.hpp"

namespace bitale::runtime {

std::string blas_kernels() {
  const auto name = reinterpret_cast<const char* (*)()>(blas_symbol("openblas_get_corename"));
  return name ? name() : "";
}

}  // namespace bitale::runtime
