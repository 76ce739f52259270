# libbitale_llvm: the part of LLVM that generates native code, linked from LLVM's archives, exporting only the functions
# that codegen/llvm/api.hpp names. It is stored beside libbitale and opened when a function is first compiled.
# Therefore users of Bitale need no LLVM, and it is opened in a third of the time of a distribution's libLLVM, which has
# every target and twice the relocations. If LLVM's archives are not available, the system's library is opened instead.

cmake_path(GET BITALE_LLVM_INCLUDE_DIR PARENT_PATH llvm_dir)
file(GLOB llvm_archives ${llvm_dir}/lib/libLLVM*.a)
set(have_archives OFF)
if(llvm_archives AND BITALE_LLVM_INCLUDE_DIR MATCHES "^${CMAKE_SYSROOT}/")  # not this machine's, for another processor
  set(have_archives ON)
endif()
option(BITALE_BUNDLE_LLVM "Link LLVM's archives into libbitale_llvm" ${have_archives})
if(NOT BITALE_BUNDLE_LLVM)
  message(STATUS "Native code will be made by the system's libLLVM (BITALE_BUNDLE_LLVM is off, or there are no archives in ${llvm_dir}/lib).")
  return()
endif()

set(api_header ${CMAKE_CURRENT_SOURCE_DIR}/src/codegen/llvm/api.hpp)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${api_header})
file(READ ${api_header} api)
string(REGEX MATCHALL "X\\([A-Z][A-Za-z0-9]+\\)" llvm_functions "${api}")
list(TRANSFORM llvm_functions REPLACE "X\\((.*)\\)" "LLVM\\1")
list(APPEND llvm_functions LLVMGetVersion)
foreach(target X86 AArch64)  # the targets of codegen/llvm/module.cpp
  foreach(part TargetInfo Target TargetMC AsmPrinter)
    list(APPEND llvm_functions LLVMInitialize${target}${part})
  endforeach()
endforeach()
list(JOIN llvm_functions ";\n" exported)
file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/bitale_llvm.map CONTENT "{\nglobal:\n@exported@;\nlocal: *;\n};\n" @ONLY)

add_library(bitale_llvm SHARED cmake/llvm/compression.cpp)
if(BITALE_LLVM_MAJOR EQUAL llvm_debian)  # classes of C++, which change between major versions
  target_sources(bitale_llvm PRIVATE cmake/llvm/passes.cpp)
  target_include_directories(bitale_llvm SYSTEM PRIVATE ${BITALE_LLVM_INCLUDE_DIR})
endif()
target_compile_options(bitale_llvm PRIVATE -fno-sanitize=all)  # it would need the sanitizer's library
list(TRANSFORM llvm_functions PREPEND "LINKER:--undefined=" OUTPUT_VARIABLE wanted)
# The functions that run while a function is compiled are stored together (tools/llvm_functions.py), so that fewer pages
# are mapped. Symbols are kept where profiles and that script need them.
set(functions ${CMAKE_CURRENT_SOURCE_DIR}/cmake/llvm/functions.txt)
# Functions of equal code are stored once (the identities that LLVM compares are addresses of variables): 0.9 MB compressed.
set(by_lld -fuse-ld=lld LINKER:--symbol-ordering-file=${functions},--no-warn-symbol-ordering,--icf=all)
set_target_properties(bitale_llvm PROPERTIES
  LINK_DEPENDS "${CMAKE_CURRENT_BINARY_DIR}/bitale_llvm.map;${functions}"
  LINK_OPTIONS "$<$<BOOL:${BITALE_LLD}>:${by_lld}>;LINKER:--version-script=${CMAKE_CURRENT_BINARY_DIR}/bitale_llvm.map;LINKER:--gc-sections,-Bsymbolic,-z,defs;$<$<CONFIG:Release>:LINKER:--strip-all>;${wanted}")
target_link_libraries(bitale_llvm PRIVATE "$<LINK_GROUP:RESCAN,${llvm_archives}>")
bitale_portable(bitale_llvm)
add_dependencies(bitale bitale_llvm)
