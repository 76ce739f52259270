// Export of functions: C code to compile anywhere, object files to link, modules for XLA, and addresses to call from C
// in this process.
#pragma once

#include <string>
#include <vector>

#include "bitale/compile/function.hpp"

namespace bitale {

struct ExportOptions {
  std::string name = {};  // of the C function: an identifier; default: the function's, else "f"
};

// Writes NAME.c, NAME.h and CMakeLists.txt into the folder, which is created if needed, and returns their paths. The
// code is C99 and needs the C library alone; it allocates nothing and keeps no state, so that calls may come from many
// threads. NAME.h documents how to call it. Shared variables become inputs after the others, their updates outputs
// after the others. Results are those of this machine's native code, to the last bit, except for matrix products and
// for the few functions that each C library computes in its own way.
// NotImplementedError naming what can't be exported (an op without native code; lengths that depend on computed
// values); ValueError for a name that is not an identifier, or a folder that can't be written.
std::vector<std::string> export_c(const Function& function, const std::string& folder,
                                  const ExportOptions& options = {});

// Writes NAME.wasm, NAME.js and NAME.d.ts, and returns their paths: the function as a WebAssembly module with vectors
// of 128 bits, a JavaScript module whose `load` gives the function in a browser or in Node.js, and its types for
// TypeScript. Needs clang and wasm-ld. WebAssembly has no fused multiply-add, so results differ from native ones in
// their last bits. NotImplementedError as above, where clang or wasm-ld is missing, and naming a function of the C
// library that JavaScript lacks; ValueError as above.
std::vector<std::string> export_wasm(const Function& function, const std::string& folder,
                                     const ExportOptions& options = {});

struct ObjectOptions {
  std::string name = {};  // as above
  // The target processors, named as in the flag `target`: native (all that this one has), native-256, x86-64-v3,
  // aarch64, ...; default: that flag.
  std::string target = {};
};

// Writes NAME.o and NAME.h, with the functions that export_c writes, as native code for Linux that needs no compiler
// any more: position-independent, and linked with the C library's mathematics (-lm) alone. Results are those of native
// code for the same width of vectors, except for matrix products, which are loops in it, and for sin, cos and tan of
// huge arguments, gamma, gammaln, digamma and trigamma below 0. NotImplementedError naming what can't be exported: as
// above, sorting, polygamma; or a target that the LLVM library has no code generator for. ValueError for another
// target, and as above. Without LLVM the error says what to install.
std::vector<std::string> export_object(const Function& function, const std::string& folder,
                                       const ObjectOptions& options = {});

// The function as the text of a StableHLO module for inputs of these shapes, in the order of its inputs; without
// shapes, those of their types. Arguments and results of its `main` are those of export_c. With `checks` there is one
// more result where something can fail (a position out of range, a matrix that is not positive definite): bool[count],
// with one element per check, false where it fails; without, such positions are clamped, and such factors nan.
// `platform`: "cpu" for a module with calls of LAPACK, by the names that jaxlib gives them on processors ("gpu",
// "cuda", "rocm" and "tpu" have none); "" for one that every platform of XLA can compile.
// NotImplementedError naming the op that has no form in StableHLO for the platform, or whose lengths depend on values;
// ValueError for another platform, for a different number of shapes, or for unknown lengths; ShapeError for shapes that
// don't match.
struct ModuleText {
  std::string text;
  std::vector<std::pair<DType, Dims>> results;  // without the outcomes of checks
  std::vector<std::string> checks;              // what is wrong where the outcome of a check is false
};
struct StablehloOptions {
  bool checks = true;
  std::string platform = {};
};
ModuleText stablehlo_text(const Function& function, const std::vector<Dims>& shapes = {},
                          const StablehloOptions& options = {});
// Writes the same as NAME.mlir into the folder, and returns its path.
std::string export_stablehlo(const Function& function, const std::string& folder, const std::vector<Dims>& shapes = {},
                             const ExportOptions& options = {}, const StablehloOptions& module = {});

}  // namespace bitale
