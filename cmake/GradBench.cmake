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

# Derivatives by hand, beside which they are measured.
file(GLOB by_hand_sources CONFIGURE_DEPENDS bench/gradbench/by_hand/*.cpp)
add_executable(gradbench_by_hand EXCLUDE_FROM_ALL ${by_hand_sources} ${gradbench_folder}/protocol.cpp ${gradbench_folder}/inputs.cpp)
bitale_target(gradbench_by_hand)
target_compile_options(gradbench_by_hand PRIVATE -O3 -march=native -ffast-math)
target_link_libraries(gradbench_by_hand PRIVATE nlohmann_json::nlohmann_json)
set_target_properties(gradbench_by_hand PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/bench)
