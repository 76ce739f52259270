# Most of the time to compile a file is spent on its headers, so builds that are not meant for development compile
# many files as one, also those of Bitale as a part of another project. Developers, who change one file at a time, do
# not. The code that computes while functions run, `src/runtime`, is optimised as the build specifies; the compiler
# around it less, which saves a fifth of the time and adds 4 % to rewriting.

set(for_users ON)
if(for_developers)
  set(for_users OFF)
endif()
option(BITALE_UNITY "Compile many source files as one" ${for_users})

# Compiles `batch` files as one, with options for all of them.
function(bitale_unity target batch)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${batch})
  target_compile_options(${target} PRIVATE ${ARGN})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # GCC treats an included source file as a header; the other warnings are caused by inlined functions of std::string.
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage -Wno-array-bounds -Wno-stringop-overread)
  endif()
endfunction()
set(BITALE_OPTIMISED_LESS "$<$<CONFIG:Release>:-O1;-finline-functions;-finline-small-functions>")
option(BITALE_QUICK "Compile in a sixth less of the time, for code that rewrites in 6 % more" OFF)
if(BITALE_QUICK AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # What pays off in loops over numbers, and the passes for constants that find least in code of small functions.
  string(JOIN ";-fno-" without if-conversion if-conversion2 ivopts move-loop-invariants ssa-phiopt tree-ccp
    tree-dominator-opts tree-loop-optimize tree-pta tree-sink tree-slsr)
  string(APPEND BITALE_OPTIMISED_LESS ";-fno-${without}")
endif()

# The parts of the library with flags of their own.
if(BITALE_UNITY)
  set(runtime_sources ${sources})
  list(FILTER runtime_sources INCLUDE REGEX "/src/(runtime/|program/kernels/(baseline|avx2|avx512)[.]cpp)")
  list(REMOVE_ITEM sources ${runtime_sources})
  list(REMOVE_ITEM runtime_sources ${boost_sources} ${fast_sources})
  add_library(bitale_runtime OBJECT ${runtime_sources})
  add_library(bitale_boost OBJECT ${boost_sources})
  add_library(bitale_fast OBJECT ${fast_sources})
  set(unity_parts bitale_runtime bitale_boost bitale_fast)
endif()
