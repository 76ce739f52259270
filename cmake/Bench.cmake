# Every bench/cpp/NAME.cpp is a program, bench/NAME in the build tree. bench/run.py (`./dev bench`) runs them.

find_package(benchmark REQUIRED)
add_custom_target(bitale_bench)
file(GLOB bench_sources CONFIGURE_DEPENDS bench/cpp/*.cpp)
foreach(source ${bench_sources})
  cmake_path(GET source STEM name)
  add_executable(bench_${name} ${source})
  bitale_target(bench_${name})
  target_compile_options(bench_${name} PRIVATE $<$<CONFIG:Release>:-O3>)
  target_link_libraries(bench_${name} PRIVATE bitale benchmark::benchmark)
  set_target_properties(bench_${name} PROPERTIES OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/bench)
  add_dependencies(bitale_bench bench_${name})
endforeach()

# The kernels and loops by hand that bench/python compares with, as strict as ours, and as fast as GCC makes them.
foreach(kind strict fast)
  add_library(bench_peers_${kind} MODULE bench/cpp/peers/kernels.cpp bench/cpp/peers/scans.cpp
              bench/cpp/peers/metropolis.cpp)
  target_compile_options(bench_peers_${kind} PRIVATE -O3 -march=native)
  target_link_libraries(bench_peers_${kind} PRIVATE openblas)
  set_target_properties(bench_peers_${kind} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/bench)
  add_dependencies(bitale_bench bench_peers_${kind})
endforeach()
target_compile_options(bench_peers_fast PRIVATE -ffast-math -fopenmp-simd -mprefer-vector-width=512)
target_link_options(bench_peers_fast PRIVATE -ffast-math)
