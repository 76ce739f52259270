// Split: long straight code becomes several functions, for LLVM's time grows faster than the length of a block. Values
// that are needed elsewhere cross through memory, which the entry function allocates.
#pragma once

#include "codegen/llvm/api.hpp"

namespace bitale::codegen {

// `entry`: int32 (ptr). After it, no block has many more than `most` instructions. A module without long blocks stays
// as it is.
void split_long_blocks(LLVMContextRef context, LLVMModuleRef module, LLVMValueRef entry, std::size_t most = 1000);

}  // namespace bitale::codegen
