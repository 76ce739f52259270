# Flags for every target of the project: `bitale_target(name)`. Builds are faster where ccache and lld are installed.

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release)
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

option(BITALE_WERROR "Treat warnings as errors" ${for_developers})
set(BITALE_SANITIZE "" CACHE STRING "Sanitizers for every target: 'address,undefined' or 'thread'")

if(BITALE_SANITIZE)
  add_compile_options(-fsanitize=${BITALE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${BITALE_SANITIZE})
  if(BITALE_SANITIZE STREQUAL "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-Wno-tsan)  # it ignores fences: their ordering must come from other accesses as well
  endif()
endif()

find_program(BITALE_LLD ld.lld)
if(BITALE_LLD)
  add_link_options(-fuse-ld=lld LINKER:-z,keep-text-section-prefix)  # separate sections for initializers and cold code, as by other linkers
endif()
add_link_options(-Wl,--as-needed)

# Paths are hashed relative to the checkout, so that another checkout can reuse what this one compiled.
find_program(BITALE_CCACHE ccache)
if(BITALE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 CCACHE_ABSSTDERR=1
    CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${BITALE_CCACHE})
endif()

file(RELATIVE_PATH to_source ${PROJECT_BINARY_DIR} ${PROJECT_SOURCE_DIR})

function(bitale_target target)
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wpedantic
    # GCC 12, when it optimises, reports a moved-from std::variant as uninitialised memory, and copies of strings as
    # overflows; GCC 13 and later take what a temporary handle of a node refers to as a part of the handle.
    "$<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized;-Wno-stringop-overflow;-Wno-restrict>"
    "$<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_GREATER_EQUAL:$<CXX_COMPILER_VERSION>,13>>:-Wno-dangling-reference>"
    $<$<BOOL:${BITALE_WERROR}>:-Werror>
    -fno-math-errno -ffp-contract=off                    # IEEE arithmetic as written
    -ffile-prefix-map=${PROJECT_SOURCE_DIR}/=            # __FILE__ and debug information relative to the checkout
    -ffile-prefix-map=${to_source}=                      # (ccache gives the compiler relative paths)
    $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>           # lets ccache work with the precompiled header
    # Unity builds trigger GCC's garbage collection repeatedly, which takes a seventh of the time.
    "$<$<AND:$<CXX_COMPILER_ID:GNU>,$<CONFIG:Release>>:--param=ggc-min-heapsize=393216>")  # KiB
  target_compile_definitions(${target} PRIVATE $<$<NOT:$<CONFIG:Release>>:_GLIBCXX_ASSERTIONS>)
  bitale_portable(${target})
endfunction()
