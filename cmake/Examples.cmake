# Every examples/cpp/NAME.cpp is a program, examples/NAME in the build tree. As a test it runs with BITALE_EXAMPLE_QUICK=1: a few steps only.

file(GLOB example_sources CONFIGURE_DEPENDS examples/cpp/*.cpp)
foreach(source ${example_sources})
  cmake_path(GET source STEM name)
  add_executable(example_${name} ${source})
  bitale_target(example_${name})
  target_compile_definitions(example_${name} PRIVATE BITALE_EXAMPLE_DATA="${CMAKE_CURRENT_SOURCE_DIR}/examples/data")
  target_link_libraries(example_${name} PRIVATE bitale)
  set_target_properties(example_${name} PROPERTIES OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/examples)
  add_test(NAME example.cpp.${name} COMMAND example_${name})
  set_tests_properties(example.cpp.${name} PROPERTIES ENVIRONMENT BITALE_EXAMPLE_QUICK=1)
endforeach()
