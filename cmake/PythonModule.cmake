# The extension module `bitale._core`: python/src/*.cpp over nanobind.
#
# In a developer's tree the module is kept in the build tree and `./dev python` links it into python/bitale/. In a wheel
# it is stored in the package, with the library beside it (Install.cmake).

find_package(Python 3.10 REQUIRED COMPONENTS Interpreter Development.Module NumPy)
execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir OUTPUT_STRIP_TRAILING_WHITESPACE
  OUTPUT_VARIABLE nanobind_ROOT COMMAND_ERROR_IS_FATAL ANY)
find_package(nanobind CONFIG REQUIRED NO_CMAKE_FIND_ROOT_PATH)  # sources, the same for every processor

file(GLOB python_sources CONFIGURE_DEPENDS python/src/*.cpp python/src/reference/*.cpp)
nanobind_add_module(_core NB_STATIC NOMINSIZE NB_SUPPRESS_WARNINGS ${python_sources})
bitale_target(_core)
target_include_directories(_core PRIVATE python/src src)
if(BITALE_UNITY)
  bitale_unity(_core 10 ${BITALE_OPTIMISED_LESS})
endif()
target_link_libraries(_core PRIVATE bitale Python::NumPy)
# Only this file, so that a new version does not compile everything anew.
set_source_files_properties(python/src/module.cpp PROPERTIES COMPILE_DEFINITIONS BITALE_VERSION="${PROJECT_VERSION}")
set_target_properties(_core PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/python INSTALL_RPATH "$ORIGIN")

# Describing the module to type checkers takes running it; the description is the same for every processor.
set(BITALE_CORE_STUB "" CACHE FILEPATH "_core.pyi of another build, to be used instead of one that this module makes")
set(stub ${CMAKE_CURRENT_BINARY_DIR}/python/_core.pyi)
if(BITALE_CORE_STUB)
  configure_file(${BITALE_CORE_STUB} ${stub} COPYONLY)
elseif(CMAKE_CROSSCOMPILING)
  message(FATAL_ERROR "The module of another processor cannot be run, so BITALE_CORE_STUB= must name _core.pyi of a build for this one.")
else()
  nanobind_add_stub(_core_stub MODULE _core INCLUDE_PRIVATE OUTPUT ${stub}
    PATTERN_FILE ${CMAKE_CURRENT_SOURCE_DIR}/python/src/stub_patterns.txt PYTHON_PATH $<TARGET_FILE_DIR:_core> DEPENDS _core)
endif()

install(TARGETS _core LIBRARY DESTINATION bitale COMPONENT python)
install(FILES ${stub} DESTINATION bitale COMPONENT python)
install(FILES examples/data/digits.csv examples/data/mauna_loa.csv examples/data/README.md DESTINATION bitale/data COMPONENT python)
