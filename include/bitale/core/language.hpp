// What a program that includes the library has to be compiled with: the first header of the others, so that a compiler
// that was told otherwise says this before anything else.
#pragma once

#if !defined(__cpp_concepts) || __cpp_concepts < 201907L
#error "Bitale's headers need C++20: compile with -std=c++20 or later"
#endif
// Types of a program derive from the library's (Op, HostObject, LeafData), which asks objects for their types.
#if !defined(__cpp_rtti)
#error "Bitale's headers need run-time type information: compile without -fno-rtti"
#endif
#if !defined(__cpp_exceptions)
#error "Bitale reports errors by exceptions: compile without -fno-exceptions"
#endif
