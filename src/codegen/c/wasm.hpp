// Exported C as a WebAssembly module, by clang, and the JavaScript module that loads it.
#pragma once

#include <string>

#include "codegen/c/export.hpp"

namespace bitale::codegen::c {

// The bytes of the module, whose only imports are functions that JavaScript's Math has, or that the loader defines.
// MissingGenerator, with what to install, without clang or its linker for WebAssembly; NotImplementedError naming a
// function of the C library that JavaScript lacks.
std::string wasm_module(const std::string& name, const ExportedText& text);

// NAME.js, and NAME.d.ts, which declares it for TypeScript.
struct WasmLoader {
  std::string script, declarations;
};
WasmLoader wasm_loader(const Interface& interface);

}  // namespace bitale::codegen::c
