# The C++ tests with the parts of the library that handle memory under AddressSanitizer and UndefinedBehaviorSanitizer: `./dev test --memory`.
# One more library and executable in the tree of `dev`, not built by default. The other parts, and the tests, are the objects that
# are there already, so that it takes a part of the time that the preset `sanitize` takes.

if(BITALE_SANITIZE OR BITALE_UNITY)
  return()
endif()
set(BITALE_CHECKED_PARTS core graph runtime ops program lowering link CACHE STRING "The parts that are compiled with sanitizers for bitale_checked")
list(JOIN BITALE_CHECKED_PARTS "|" checked_parts)
set(checked_parts "/src/(${checked_parts})/")
# Libraries of templates, a minute each; and functions of numbers, which have no memory and take most of the time when unoptimised.
set(unchecked_files "/src/runtime/(fft|sort_vectors|bessel|hypergeometric|incomplete|incomplete_large|special)[.]cpp")
set(checked_sources ${sources})
list(FILTER checked_sources INCLUDE REGEX "${checked_parts}")
list(FILTER checked_sources EXCLUDE REGEX "${unchecked_files}")
set(sanitizers -fsanitize=address,undefined)

add_library(bitale_checked SHARED EXCLUDE_FROM_ALL ${checked_sources})
bitale_target(bitale_checked)
target_include_directories(bitale_checked PUBLIC include PRIVATE src)
target_compile_features(bitale_checked PUBLIC cxx_std_20)
target_compile_definitions(bitale_checked PRIVATE BITALE_VERSION="${PROJECT_VERSION}")
target_compile_options(bitale_checked PRIVATE -O0 ${sanitizers} -fno-sanitize-recover=all -fno-omit-frame-pointer)
set_target_properties(bitale_checked PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12 LINK_DEPENDS $<TARGET_FILE:bitale>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(bitale_checked PRIVATE -Wno-subobject-linkage -Wno-array-bounds -Wno-stringop-overread)
endif()
target_link_options(bitale_checked PUBLIC ${sanitizers})
target_link_libraries(bitale_checked PUBLIC Threads::Threads
  PRIVATE ${CMAKE_DL_LIBS} "$<FILTER:$<TARGET_OBJECTS:bitale>,EXCLUDE,${checked_parts}|[.]gch$>"
    "$<FILTER:$<TARGET_OBJECTS:bitale>,INCLUDE,${unchecked_files}>")
add_dependencies(bitale_checked bitale)

# One test has a malloc of its own, which counts calls.
add_executable(bitale_checked_tests EXCLUDE_FROM_ALL
  "$<FILTER:$<TARGET_OBJECTS:bitale_tests>,EXCLUDE,[.]gch$|/compile/typed_test[.]cpp>")
set_target_properties(bitale_checked_tests PROPERTIES LINKER_LANGUAGE CXX)
target_link_libraries(bitale_checked_tests PRIVATE bitale_checked ${BITALE_QUADMATH})

# Entries of ctest's configuration Memory, so that others leave them out. Generators make fewer graphs than otherwise.
# Not those whose time goes into graphs of a million nodes.
set(files "codegen/(calls|checked_memory|control_flow|guarded_memory|outlined_loops)" "core/.*" "graph/(evaluate|function_graph|types?)"
  "link/(direct|failures|ifelse|random_graphs|registry|registry_graphs)" "lowering/.*" "ops/[b-z].*" "program/(loop_nest|parse|steps|verify)"
  "runtime/.*" "rules/indexing_graphs")
list(JOIN files "|" files)
foreach(source ${test_sources})
  cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/tests/cpp OUTPUT_VARIABLE file)
  if(NOT file MATCHES "^(${files})_test\\.cpp$")
    continue()
  endif()
  string(REGEX REPLACE "_test\\.cpp$" "" name ${file})
  string(REPLACE "/" "." name ${name})
  add_test(NAME memory.${name} CONFIGURATIONS Memory
    COMMAND bitale_checked_tests "--source-file=*tests/cpp/${file}" "--test-case-exclude=the generator reaches*,every op reads*")
  set_tests_properties(memory.${name} PROPERTIES
    ENVIRONMENT "BITALE_TEST_DATA=${CMAKE_CURRENT_SOURCE_DIR}/examples/data;BITALE_TEST_GRAPHS=300")
  if(file MATCHES "^(codegen/.*|link/(direct|failures|ifelse|registry_graphs))_test\\.cpp$")  # of generated code, which is checked, too
    set_tests_properties(memory.${name} PROPERTIES ENVIRONMENT_MODIFICATION BITALE_FLAGS=string_append:,memory__check=True)
  endif()
endforeach()
