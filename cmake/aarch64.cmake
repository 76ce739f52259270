# Building for AArch64 on another processor, with Debian's cross compiler (g++-aarch64-linux-gnu) and the packages that
# tools/aarch64_root.sh has fetched; programs run in an emulator if one is installed (qemu-user-static). See
# docs/building.md.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)

set(BITALE_AARCH64_ROOT ${CMAKE_CURRENT_LIST_DIR}/../build/aarch64-root CACHE PATH "What tools/aarch64_root.sh made")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES BITALE_AARCH64_ROOT)
if(NOT EXISTS ${BITALE_AARCH64_ROOT}/usr/include)
  message(FATAL_ERROR "There are no AArch64 packages in ${BITALE_AARCH64_ROOT}: tools/aarch64_root.sh fetches them; -DBITALE_AARCH64_ROOT= names another folder.")
endif()
file(REAL_PATH ${BITALE_AARCH64_ROOT} CMAKE_SYSROOT)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(BITALE_LLVM_INCLUDE_DIR ${CMAKE_SYSROOT}/usr/lib/llvm-19/include CACHE PATH "The folder that holds llvm-c/")

# lld links for every processor. A cross compiler looks for it under another name, except in folders that -B names; the one
# of lld itself has no other tools that the compiler would take.
find_program(BITALE_LLD ld.lld)
if(BITALE_LLD)
  file(REAL_PATH ${BITALE_LLD} lld)
  cmake_path(GET lld PARENT_PATH lld_folder)
  foreach(kind EXE SHARED MODULE)
    set(CMAKE_${kind}_LINKER_FLAGS_INIT -B${lld_folder})
  endforeach()
endif()

find_program(BITALE_AARCH64_EMULATOR NAMES qemu-aarch64-static qemu-aarch64)
if(BITALE_AARCH64_EMULATOR)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${BITALE_AARCH64_EMULATOR};-L;${CMAKE_SYSROOT})
endif()
