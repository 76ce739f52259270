# C++ tests with a part of the library under sanitizers: the parts that handle memory under AddressSanitizer and
# UndefinedBehaviorSanitizer (`./dev test --memory`), the parts that threads share under ThreadSanitizer (`./dev test
# --races`). Each is a library and an executable in the build tree of `dev`, not built by default. The other parts, and
# the tests, are existing objects, so this takes a fraction of the time of the presets `sanitize` and `tsan`.

if(BITALE_SANITIZE OR BITALE_UNITY)
  return()
endif()
# The parts that are compiled with sanitizers.
set(memory_parts core/ graph/ runtime/ ops/ program/ lowering/ link/)
set(shared_parts cache/ "codegen/(background|code)[.]" compile/ core/ link/ runtime/)
# Template libraries, which take a minute each to compile; and numerical functions, which don't handle memory and take
# most of the time when unoptimised.
set(unchecked_files "/src/runtime/(fft|sort_vectors|bessel|hypergeometric|incomplete|incomplete_large|special)[.]cpp")

# Adds the library NAME, and the executable NAME_tests.
function(add_checked_tests name parts)
  set(sanitizers ${ARGN})
  list(JOIN parts "|" of_parts)
  set(of_parts "/src/(${of_parts})")
  set(checked_sources ${sources})
  list(FILTER checked_sources INCLUDE REGEX "${of_parts}")
  list(FILTER checked_sources EXCLUDE REGEX "${unchecked_files}")
  add_library(${name} SHARED EXCLUDE_FROM_ALL ${checked_sources})
  bitale_target(${name})
  target_include_directories(${name} PUBLIC include PRIVATE src)
  target_compile_features(${name} PUBLIC cxx_std_20)
  target_compile_options(${name} PRIVATE -O0 ${sanitizers} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12 LINK_DEPENDS $<TARGET_FILE:bitale>)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${name} PRIVATE -Wno-subobject-linkage -Wno-array-bounds -Wno-stringop-overread)
  endif()
  # The instrumented definitions of inline functions are used, even where the tests contain others.
  target_link_options(${name} PUBLIC ${sanitizers} PRIVATE -Wl,-Bsymbolic-functions)
  target_link_libraries(${name} PUBLIC Threads::Threads
    PRIVATE ${CMAKE_DL_LIBS} "$<FILTER:$<TARGET_OBJECTS:bitale>,EXCLUDE,${of_parts}|[.]gch$>"
      "$<FILTER:$<TARGET_OBJECTS:bitale>,INCLUDE,${unchecked_files}>")
  add_dependencies(${name} bitale)

  # One test has its own malloc, which counts calls.
  add_executable(${name}_tests EXCLUDE_FROM_ALL
    "$<FILTER:$<TARGET_OBJECTS:bitale_tests>,EXCLUDE,[.]gch$|/compile/typed_test[.]cpp>")
  set_target_properties(${name}_tests PROPERTIES LINKER_LANGUAGE CXX)
  target_link_libraries(${name}_tests PRIVATE ${name} ${BITALE_QUADMATH})
endfunction()

# Entries of a separate configuration of ctest, so that others exclude them: a test GROUP.FILE for each file whose name
# matches.
function(add_checked_entries group name files excluded)
  foreach(source ${test_sources})
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/tests/cpp OUTPUT_VARIABLE file)
    if(NOT file MATCHES "^(${files})_test\\.cpp$")
      continue()
    endif()
    string(REGEX REPLACE "_test\\.cpp$" "" entry ${file})
    string(REPLACE "/" "." entry ${group}.${entry})
    add_test(NAME ${entry} CONFIGURATIONS Checked
      COMMAND ${name}_tests "--source-file=*tests/cpp/${file}" "--test-case-exclude=${excluded}")
    set_tests_properties(${entry} PROPERTIES
      ENVIRONMENT "BITALE_TEST_DATA=${CMAKE_CURRENT_SOURCE_DIR}/examples/data;BITALE_TEST_GRAPHS=300"
      # LeakSanitizer, which looks at all threads after the last test, may crash itself: once in some thousand processes.
      SKIP_REGULAR_EXPRESSION "LeakSanitizer has encountered a fatal error")
    if(group STREQUAL "memory" AND file MATCHES "^(codegen/.*|link/(direct|failures|ifelse|registry_graphs))_test\\.cpp$")
      set_tests_properties(${entry} PROPERTIES ENVIRONMENT_MODIFICATION BITALE_FLAGS=string_append:,memory__check=True)
    endif()
  endforeach()
endfunction()

# Memory checks. Generators create fewer graphs than otherwise; tests that spend their time on graphs of a million nodes
# are excluded. Where tests run generated code, that is checked, too.
add_checked_tests(bitale_checked "${memory_parts}" -fsanitize=address,undefined)
set(files "codegen/(calls|checked_memory|control_flow|guarded_memory|outlined_loops)" "core/.*" "graph/(evaluate|function_graph|types?)"
  "link/(direct|failures|ifelse|random_graphs|registry|registry_graphs)" "lowering/.*" "ops/[b-z].*" "program/(accesses|loop_nest|parse|steps|verify)"
  "runtime/.*" "rules/indexing_graphs")
list(JOIN files "|" files)
add_checked_entries(memory bitale_checked "${files}" "the generator reaches*,every op reads*")

# Thread checks. ThreadSanitizer allows no threads after a fork; only one thread at a time profiles the registry.
add_checked_tests(bitale_raced "${shared_parts}" -fsanitize=thread -Wno-tsan)  # GCC warns about fences
set(files "codegen/(detach|tiers)" "compile/(address|export|function|shared)" "core/(big_blocks|config|location|resident)"
  "link/(callers|profile|threads)" "runtime/(added_variable|threads)")
list(JOIN files "|" files)
add_checked_entries(races bitale_raced "${files}" "*forked child*,*child made by fork*,profile: every op of the registry*")
