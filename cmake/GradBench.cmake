# GradBench's evals as a program of their protocol, bench/gradbench in the build tree: `./dev bench --gradbench` runs it, and tests talk to it.

find_package(nlohmann_json QUIET)
if(NOT nlohmann_json_FOUND)
  message(STATUS "bench/gradbench is left out: nlohmann's JSON library is not here. On Debian: apt-get install nlohmann-json3-dev.")
  return()
endif()
set(gradbench_folder ${CMAKE_CURRENT_SOURCE_DIR}/bench/gradbench/cpp)
file(GLOB gradbench_sources CONFIGURE_DEPENDS ${gradbench_folder}/*.cpp ${gradbench_folder}/evals/*.cpp)
add_executable(gradbench ${gradbench_sources})
bitale_target(gradbench)
target_link_libraries(gradbench PRIVATE bitale nlohmann_json::nlohmann_json)
target_precompile_headers(gradbench PRIVATE <bitale/bitale.hpp> <nlohmann/json.hpp>)
set_target_properties(gradbench PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/bench)

if(BITALE_BUILD_TESTS)
  add_test(NAME bench.gradbench COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/tests/gradbench/check.py $<TARGET_FILE:gradbench>)
  set_tests_properties(bench.gradbench PROPERTIES ENVIRONMENT BITALE_FLAGS=base_compiledir=${CMAKE_CURRENT_BINARY_DIR}/compiled)
endif()

# What Bitale is measured beside is not part of a build; what has been built is tested.
function(gradbench_peer_test target)
  if(BITALE_BUILD_TESTS)
    add_test(NAME bench.${target} COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/tests/gradbench/check.py --derivatives $<TARGET_FILE:${target}>)
    set_tests_properties(bench.${target} PROPERTIES SKIP_RETURN_CODE 77)
  endif()
endfunction()

# Derivatives by hand.
file(GLOB by_hand_sources CONFIGURE_DEPENDS bench/gradbench/by_hand/*.cpp)
add_executable(gradbench_by_hand EXCLUDE_FROM_ALL ${by_hand_sources} ${gradbench_folder}/protocol.cpp ${gradbench_folder}/inputs.cpp)
bitale_target(gradbench_by_hand)
target_compile_options(gradbench_by_hand PRIVATE -O3 -march=native -ffast-math)
target_link_libraries(gradbench_by_hand PRIVATE nlohmann_json::nlohmann_json)
set_target_properties(gradbench_by_hand PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/bench)
gradbench_peer_test(gradbench_by_hand)

# The same by libraries of overloaded operators, where they are installed: Debian's libadolc-dev, PyPI's cmeel-cppad (its prefix is in
# CMAKE_PREFIX_PATH).
function(gradbench_overloaded name header library)
  find_path(GRADBENCH_${name}_INCLUDE_DIR ${header})
  find_library(GRADBENCH_${name}_LIBRARY ${library})
  mark_as_advanced(GRADBENCH_${name}_INCLUDE_DIR GRADBENCH_${name}_LIBRARY)
  if(NOT GRADBENCH_${name}_INCLUDE_DIR OR NOT GRADBENCH_${name}_LIBRARY)
    return()
  endif()
  set(target gradbench_${name})
  add_executable(${target} EXCLUDE_FROM_ALL bench/gradbench/overloaded/${name}.cpp ${gradbench_folder}/protocol.cpp ${gradbench_folder}/inputs.cpp
                           ${gradbench_folder}/jacobian_sample.cpp)
  bitale_target(${target})
  target_compile_options(${target} PRIVATE -O3 -march=native)
  target_compile_definitions(${target} PRIVATE NDEBUG)
  target_include_directories(${target} SYSTEM PRIVATE ${GRADBENCH_${name}_INCLUDE_DIR})
  target_link_libraries(${target} PRIVATE nlohmann_json::nlohmann_json ${GRADBENCH_${name}_LIBRARY})
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/bench)
  gradbench_peer_test(${target})
endfunction()
gradbench_overloaded(cppad cppad/cppad.hpp cppad_lib)
gradbench_overloaded(adolc adolc/adolc.h adolc)
