# C++ tests: one executable, one ctest entry per file. Then the include layering, and a project that uses the installed library.

find_package(doctest REQUIRED)
find_package(Python3 REQUIRED COMPONENTS Interpreter)
include(CheckIncludeFileCXX)
check_include_file_cxx(quadmath.h BITALE_HAVE_QUADMATH)  # GCC's, on x86: references for sin, cos and tan
set(BITALE_QUADMATH $<$<BOOL:${BITALE_HAVE_QUADMATH}>:quadmath>)

file(GLOB_RECURSE test_sources CONFIGURE_DEPENDS tests/cpp/*_test.cpp)
file(GLOB_RECURSE test_helpers CONFIGURE_DEPENDS tests/cpp/support/*.cpp)
add_executable(bitale_tests tests/cpp/main.cpp ${test_helpers} ${test_sources})
bitale_target(bitale_tests)
target_include_directories(bitale_tests PRIVATE tests/cpp src)
target_include_directories(bitale_tests SYSTEM PRIVATE ${BITALE_EIGEN_INCLUDE_DIR})
target_compile_definitions(bitale_tests PRIVATE DOCTEST_CONFIG_SUPER_FAST_ASSERTS BITALE_BUNDLE_LLVM=$<TARGET_EXISTS:bitale_llvm>)
# The library is what the tests exercise; their own code, unoptimised, takes half the time to compile.
# What they expect to throw, they discard.
target_compile_options(bitale_tests PRIVATE -O0 -Wno-unused-result)
target_link_libraries(bitale_tests PRIVATE bitale doctest::doctest ${BITALE_QUADMATH})
if(NOT CMAKE_CROSSCOMPILING)  # Debian's cross compiler can't place one that large
  target_precompile_headers(bitale_tests PRIVATE <doctest/doctest.h> <cmath> <functional> <memory> <optional> <span> <string> <vector>)
endif()
set_source_files_properties(tests/cpp/main.cpp PROPERTIES SKIP_PRECOMPILE_HEADERS ON)

foreach(source ${test_sources})
  cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/tests/cpp OUTPUT_VARIABLE file)
  string(REGEX REPLACE "_test\\.cpp$" "" name ${file})
  string(REPLACE "/" "." name ${name})
  add_test(NAME cpp.${name} COMMAND bitale_tests "--source-file=*tests/cpp/${file}")
  set_tests_properties(cpp.${name} PROPERTIES ENVIRONMENT
    "BITALE_TEST_DATA=${CMAKE_CURRENT_SOURCE_DIR}/examples/data;BITALE_TEST_COVERAGE=${CMAKE_CURRENT_SOURCE_DIR}/tests/rules_coverage")
endforeach()

add_test(NAME layering COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/tests/layering/check.py ${CMAKE_CURRENT_SOURCE_DIR})
add_test(NAME layering.python COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/tests/layering/python_check.py ${CMAKE_CURRENT_SOURCE_DIR})
add_test(NAME layering.python.self COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/tests/layering/python_check_test.py)
add_test(NAME layering.self COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/tests/layering/check_test.py)

set(consumer_dir ${CMAKE_CURRENT_BINARY_DIR}/consumer)
set(consumer_flags ${CMAKE_CXX_FLAGS})
if(BITALE_SANITIZE)
  string(APPEND consumer_flags " -fsanitize=${BITALE_SANITIZE}")
endif()
add_test(NAME consumer.install
  COMMAND ${CMAKE_COMMAND} --install ${CMAKE_CURRENT_BINARY_DIR} --component library --prefix ${consumer_dir}/prefix)
add_test(NAME consumer
  COMMAND ${CMAKE_CTEST_COMMAND} --build-and-test ${CMAKE_CURRENT_SOURCE_DIR}/tests/consumer ${consumer_dir}/build
    --build-generator ${CMAKE_GENERATOR} --build-noclean
    --build-options -DCMAKE_PREFIX_PATH=${consumer_dir}/prefix -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER}
      "-DCMAKE_CXX_FLAGS=${consumer_flags}" -DCMAKE_BUILD_TYPE=Debug -DBITALE_TWO_COPIES=${BITALE_UNITY}
    --test-command ${CMAKE_CTEST_COMMAND} --output-on-failure)
set_tests_properties(consumer.install PROPERTIES FIXTURES_SETUP installed_library)
set_tests_properties(consumer PROPERTIES FIXTURES_REQUIRED installed_library
  ENVIRONMENT BITALE_FLAGS=base_compiledir=${CMAKE_CURRENT_BINARY_DIR}/compiled)

add_test(NAME consumer.fetched
  COMMAND ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_SOURCE_DIR}/tests/consumer/fetched -B ${consumer_dir}/fetched -G ${CMAKE_GENERATOR}
    -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER})
if(CMAKE_LIBRARY_ARCHITECTURE)
  add_test(NAME consumer.debian
    COMMAND ${CMAKE_COMMAND} -DBUILD=${CMAKE_CURRENT_BINARY_DIR} -DPREFIX=${consumer_dir}/debian
      -DVERSION=${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} -P ${CMAKE_CURRENT_SOURCE_DIR}/tests/consumer/debian.cmake)
endif()

# Users build with BITALE_UNITY, where private names of two files must not clash. Compiling without optimisation checks
# this.
if(NOT BITALE_UNITY AND NOT BITALE_SANITIZE)
  set(unity_targets --build-target bitale)
  set(unity_options -DBITALE_BUILD_TESTS=OFF -DBITALE_BUILD_EXAMPLES=OFF -DBITALE_BUILD_BENCH=OFF)
  if(BITALE_BUILD_PYTHON)
    list(APPEND unity_targets --build-target _core)
    list(APPEND unity_options -DBITALE_BUILD_PYTHON=ON -DPython_EXECUTABLE=${Python_EXECUTABLE})
  endif()
  add_test(NAME unity
    COMMAND ${CMAKE_CTEST_COMMAND} --build-and-test ${CMAKE_CURRENT_SOURCE_DIR} ${CMAKE_CURRENT_BINARY_DIR}/unity
      --build-generator ${CMAKE_GENERATOR} --build-noclean ${unity_targets}
      --build-options -DBITALE_UNITY=ON -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER} -DCMAKE_BUILD_TYPE=None ${unity_options}
    --test-command ${CMAKE_COMMAND} -E true)
  set_tests_properties(unity PROPERTIES LABELS build)
endif()

# Clang compiles the public headers, with GCC's standard library and its own: `./dev setup clang`.
find_program(BITALE_CLANG NAMES clang++-19 clang++-18 clang++-17 clang++-16 clang++)
if(BITALE_CLANG)
  execute_process(COMMAND ${BITALE_CLANG} -dumpversion OUTPUT_VARIABLE clang_version OUTPUT_STRIP_TRAILING_WHITESPACE)
endif()
if(BITALE_CLANG AND clang_version VERSION_GREATER_EQUAL 16)
  file(GLOB_RECURSE public_headers RELATIVE ${CMAKE_CURRENT_SOURCE_DIR}/include CONFIGURE_DEPENDS include/*.hpp)
  list(FILTER public_headers EXCLUDE REGEX "core/eigen")  # Eigen is another library
  list(TRANSFORM public_headers REPLACE "(.+)" "#include \"\\1\"")
  list(JOIN public_headers "\n" includes)
  set(all_headers ${CMAKE_CURRENT_BINARY_DIR}/generated/all_headers.cpp)
  file(CONFIGURE OUTPUT ${all_headers} CONTENT "@includes@\n" @ONLY)
  foreach(library libstdc++ libc++)
    set(clang ${BITALE_CLANG} -std=c++20 -stdlib=${library} -fsyntax-only -Wall -Wextra -Wpedantic -Werror -Wshadow-all -DX=3)
    execute_process(COMMAND ${clang} -x c++ -include vector /dev/null RESULT_VARIABLE lacks_library OUTPUT_QUIET ERROR_QUIET)
    if(NOT lacks_library)
      add_test(NAME clang.headers.${library} COMMAND ${clang} -I${CMAKE_CURRENT_SOURCE_DIR}/include ${all_headers})
      foreach(lacking "-std=c++17=need C[+][+]20" "-fno-rtti=need run-time type information")
        string(REGEX MATCH "^(.*)=([^=]*)$" _ "${lacking}")
        set(test clang.headers.${library}${CMAKE_MATCH_1})  # what is said first
        add_test(NAME ${test} COMMAND ${clang} ${CMAKE_MATCH_1} -Wfatal-errors -I${CMAKE_CURRENT_SOURCE_DIR}/include ${all_headers})
        set_tests_properties(${test} PROPERTIES PASS_REGULAR_EXPRESSION "${CMAKE_MATCH_2}")
      endforeach()
    endif()
  endforeach()
  if(TEST clang.headers.libc++)  # GCC 12's standard library has no std::mdspan
    set(mdspan ${CMAKE_CURRENT_BINARY_DIR}/clang_mdspan)  # a file mdspan in generated/ would be the header <mdspan>
    add_test(NAME clang.mdspan COMMAND sh -c "${BITALE_CLANG} -std=c++23 -stdlib=libc++ -I${CMAKE_CURRENT_SOURCE_DIR}/include \
      ${CMAKE_CURRENT_SOURCE_DIR}/tests/consumer/mdspan.cpp -o ${mdspan} && ${mdspan}")
  endif()
endif()

include(CheckedParts)

# docs/rewrite_rules.md is generated from the rules.
add_executable(rewrites_doc tools/rewrites_doc.cpp)
bitale_target(rewrites_doc)
target_link_libraries(rewrites_doc PRIVATE bitale)
add_test(NAME docs.rewrites COMMAND rewrites_doc ${CMAKE_CURRENT_SOURCE_DIR} --check)

# docs/pictures are drawn by the library.
add_executable(pictures_doc tools/pictures_doc.cpp)
bitale_target(pictures_doc)
target_link_libraries(pictures_doc PRIVATE bitale)
add_test(NAME docs.pictures COMMAND pictures_doc ${CMAKE_CURRENT_SOURCE_DIR} --check)
set_tests_properties(docs.pictures PROPERTIES ENVIRONMENT BITALE_FLAGS=base_compiledir=${CMAKE_CURRENT_BINARY_DIR}/compiled)

# The C++ of the tutorial, of the pages about C++, and of pages that end with it is compiled as one program, which prints what they show.
file(GLOB tutorial_pages CONFIGURE_DEPENDS docs/tutorial/*.md docs/start/cpp.md docs/cpp_*.md)
foreach(page linkers op_from_graph optimizers pictures profiling)
  list(APPEND tutorial_pages ${CMAKE_CURRENT_SOURCE_DIR}/docs/${page}.md)
endforeach()
set(tutorial_tool ${CMAKE_CURRENT_SOURCE_DIR}/tools/tutorial.py)
set(tutorial_program ${CMAKE_CURRENT_BINARY_DIR}/generated/tutorial.cpp)
add_custom_command(OUTPUT ${tutorial_program} COMMAND ${Python3_EXECUTABLE} ${tutorial_tool} generate ${tutorial_program} ${tutorial_pages}
  DEPENDS ${tutorial_tool} ${tutorial_pages} VERBATIM)
add_executable(tutorial_doc ${tutorial_program})
bitale_target(tutorial_doc)
target_include_directories(tutorial_doc SYSTEM PRIVATE ${BITALE_EIGEN_INCLUDE_DIR})
target_link_libraries(tutorial_doc PRIVATE bitale)
# The pages show Programs for vectors of 256 bits.
add_test(NAME docs.tutorial COMMAND ${Python3_EXECUTABLE} ${tutorial_tool} cpp $<TARGET_FILE:tutorial_doc> ${tutorial_pages})
set_tests_properties(docs.tutorial PROPERTIES
  ENVIRONMENT BITALE_FLAGS=base_compiledir=${CMAKE_CURRENT_BINARY_DIR}/compiled,target=x86-64-v3)

# The accuracy and speed of the elementary functions: `./dev math`.
add_executable(math_accuracy tools/math.cpp tests/cpp/support/math_reference.cpp)
bitale_target(math_accuracy)
target_include_directories(math_accuracy PRIVATE tests/cpp src)
target_link_libraries(math_accuracy PRIVATE bitale ${BITALE_QUADMATH})
set_source_files_properties(tools/math.cpp PROPERTIES COMPILE_OPTIONS "-O3;-fno-trapping-math")  # its loops over all float32

# Statistical tests of the counter-based stream, where TestU01 is installed: `./dev battery`.
find_path(BITALE_TESTU01_INCLUDE testu01/bbattery.h)
find_path(BITALE_TESTU01_CONFIG testu01/gdefconf.h)
find_library(BITALE_TESTU01 testu01)
find_library(BITALE_TESTU01_PROBDIST testu01probdist)
find_library(BITALE_TESTU01_MYLIB testu01mylib)
if(BITALE_TESTU01_INCLUDE AND BITALE_TESTU01)
  add_executable(battery EXCLUDE_FROM_ALL tools/battery.cpp)
  bitale_target(battery)
  target_include_directories(battery PRIVATE src)
  target_include_directories(battery SYSTEM PRIVATE ${BITALE_TESTU01_INCLUDE} ${BITALE_TESTU01_CONFIG})
  target_link_libraries(battery PRIVATE bitale ${BITALE_TESTU01} ${BITALE_TESTU01_PROBDIST} ${BITALE_TESTU01_MYLIB})
endif()

# Faults of the compile directory, in a short form; `./dev stress` runs the long form. The second worker has another
# version.
foreach(worker stress_worker stress_worker_of_another_version)
  add_executable(${worker} tests/stress/worker.cpp)
  bitale_target(${worker})
  target_include_directories(${worker} PRIVATE src)
  target_link_libraries(${worker} PRIVATE bitale)
endforeach()
file(CONFIGURE OUTPUT generated/another_version/bitale_codegen_version.inc CONTENT "#define BITALE_CODEGEN_VERSION \"another\"\n")
target_sources(stress_worker_of_another_version PRIVATE tests/stress/another_version.cpp)
target_include_directories(stress_worker_of_another_version PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/generated/another_version)
if(NOT BITALE_SANITIZE)  # the sanitizer's library must be loaded first
  add_library(without_locks MODULE tests/stress/without_locks.cpp)
  bitale_target(without_locks)
endif()
add_test(NAME stress.cache COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/tests/stress/cache.py
  ${CMAKE_CURRENT_BINARY_DIR} --size short)

# The library of a build without LLVM (BITALE_LLVM=OFF), from the same objects: programs that find it instead of the other
# have their functions interpreted.
if(BITALE_LLVM AND NOT BITALE_UNITY AND NOT BITALE_SANITIZE)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/without_llvm)
  add_library(bitale_without_llvm SHARED src/codegen/without_llvm.cpp)
  bitale_target(bitale_without_llvm)
  target_include_directories(bitale_without_llvm PRIVATE include src)
  target_compile_options(bitale_without_llvm PRIVATE -fno-semantic-interposition)
  set_target_properties(bitale_without_llvm PROPERTIES OUTPUT_NAME bitale VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} LIBRARY_OUTPUT_DIRECTORY ${folder} LINK_DEPENDS $<TARGET_FILE:bitale>)
  target_link_libraries(bitale_without_llvm PRIVATE Threads::Threads ${CMAKE_DL_LIBS}
    "$<FILTER:$<TARGET_OBJECTS:bitale>,EXCLUDE,/codegen/llvm/|[.]gch$>")
  add_dependencies(bitale_without_llvm bitale)
  add_custom_command(TARGET bitale_without_llvm POST_BUILD
    COMMAND ${CMAKE_COMMAND} -E create_symlink $<TARGET_FILE:bitale_digits> ${folder}/$<TARGET_FILE_NAME:bitale_digits> VERBATIM)
  set(with_it ENVIRONMENT_MODIFICATION LD_LIBRARY_PATH=path_list_prepend:${folder})
  add_test(NAME without_llvm.tutorial
    COMMAND ${Python3_EXECUTABLE} ${tutorial_tool} cpp $<TARGET_FILE:tutorial_doc> ${tutorial_pages})
  add_test(NAME without_llvm.graphs COMMAND bitale_tests "--source-file=*link/random_graphs_test.cpp,*link/registry_test.cpp,*link/ifelse_test.cpp")
  set_tests_properties(without_llvm.graphs PROPERTIES ${with_it} ENVIRONMENT BITALE_TEST_SAMPLE=1/8)
  set_tests_properties(without_llvm.tutorial PROPERTIES ${with_it}
    ENVIRONMENT BITALE_FLAGS=base_compiledir=${CMAKE_CURRENT_BINARY_DIR}/compiled,target=x86-64-v3)
endif()
