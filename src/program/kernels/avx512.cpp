#define BITALE_KERNEL_SET avx512
#define BITALE_KERNELS_OF_NARROW_INTEGERS 0
#include "program/kernels/kernel_set.hpp"
