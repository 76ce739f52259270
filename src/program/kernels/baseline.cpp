#define BITALE_KERNEL_SET baseline
#define BITALE_KERNELS_OF_NARROW_INTEGERS 1
#include "program/kernels/kernel_set.hpp"
