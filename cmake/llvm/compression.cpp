// The functions of zlib and zstd that LLVM's archives need: they compress debug sections and profiles, which Bitale
// doesn't generate. These stubs replace the two libraries.
#include <cstdlib>

#define UNUSED(name) \
  extern "C" [[noreturn]] void name() { std::abort(); }
UNUSED(compress2)
UNUSED(compressBound)
UNUSED(crc32)
UNUSED(uncompress)
UNUSED(ZSTD_CCtx_setParameter)
UNUSED(ZSTD_compress2)
UNUSED(ZSTD_compressBound)
UNUSED(ZSTD_createCCtx)
UNUSED(ZSTD_freeCCtx)
UNUSED(ZSTD_isError)
