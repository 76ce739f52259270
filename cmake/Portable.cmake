# Libraries that run on older systems than the one that builds them.
#
# With BITALE_GLIBC_STUBS (tools/wheel/glibc.py makes the folder) shared libraries are linked against an older glibc, and
# libstdc++ is inside them with hidden names, so that they need glibc and libgcc_s only. Compiling is not affected, so
# the compiler's cache serves both kinds of builds. lld links them, which searches archives in any order.
#
# Strings and vectors pass between the library and programs, so both must allocate by the same operators new and delete:
# the library's are visible and may be replaced, as those of libstdc++.so may, by a program's own, by an allocator's or
# by a sanitizer's.

set(BITALE_GLIBC_STUBS "" CACHE PATH "Folder with the stub libraries of an older glibc to link against")

if(BITALE_GLIBC_STUBS)
  if(NOT BITALE_LLD OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    message(FATAL_ERROR "BITALE_GLIBC_STUBS needs GCC and lld. On Debian: apt-get install g++ lld.")
  endif()
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libstdc++.a OUTPUT_STRIP_TRAILING_WHITESPACE
    OUTPUT_VARIABLE static_libstdcxx COMMAND_ERROR_IS_FATAL ANY)
  add_library(bitale_newer_glibc OBJECT cmake/portable/newer_glibc.cpp)
  set_target_properties(bitale_newer_glibc PROPERTIES CXX_VISIBILITY_PRESET hidden)
endif()

set(bitale_allocation_names "")
if(BITALE_GLIBC_STUBS)
  set(bitale_allocation_names "_Znw*; _Zna*; _Zdl*; _Zda*;")
endif()

function(bitale_portable target)
  get_target_property(type ${target} TYPE)
  if(NOT BITALE_GLIBC_STUBS OR NOT type MATCHES "^(SHARED|MODULE)_LIBRARY$")
    return()
  endif()
  target_link_options(${target} PRIVATE -nodefaultlibs -L${BITALE_GLIBC_STUBS})
  if(NOT target MATCHES "^bitale(_llvm)?$")  # which have version scripts of their own
    target_link_options(${target} PRIVATE LINKER:--version-script=${CMAKE_CURRENT_SOURCE_DIR}/cmake/portable/names.map)
  endif()
  target_link_libraries(${target} PRIVATE $<TARGET_OBJECTS:bitale_newer_glibc> ${static_libstdcxx} gcc gcc_s m pthread dl c)
endfunction()

# The copy of OpenBLAS that packages contain (PyPI's scipy-openblas32, made for this purpose), stored beside the library
# and preferred to the system's (runtime/blas.cpp).
set(BITALE_OPENBLAS "" CACHE FILEPATH "libscipy_openblas.so, to be installed beside the library")
if(BITALE_OPENBLAS AND NOT BITALE_OPENBLAS MATCHES "/libscipy_openblas[.]so$")
  message(FATAL_ERROR "BITALE_OPENBLAS: expected the file libscipy_openblas.so, got ${BITALE_OPENBLAS}")
endif()
