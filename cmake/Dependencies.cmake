# Only headers: LLVM (Llvm.cmake), BLAS and LAPACK are loaded at run time.

find_package(Threads REQUIRED)
include(CheckCXXSourceCompiles)
check_cxx_source_compiles("#include <atomic>
int main(int count, char**) { std::atomic<bool> x{count > 1}; return x.exchange(true); }" BITALE_HAVE_SMALL_ATOMICS)

set(BITALE_LLVM_MAJORS 19 23)  # those whose builds pass the tests; the first is Debian's
if(BITALE_LLVM)
  list(GET BITALE_LLVM_MAJORS 0 llvm_debian)
  find_path(BITALE_LLVM_INCLUDE_DIR llvm-c/TargetMachine.h
    HINTS $ENV{LLVM_DIR}/include /usr/lib/llvm-${llvm_debian}/include
    DOC "The folder that holds llvm-c/" NO_CMAKE_SYSTEM_PATH)
  if(NOT BITALE_LLVM_INCLUDE_DIR)
    message(FATAL_ERROR "LLVM ${llvm_debian}'s C headers (llvm-c/) are missing. On Debian: apt-get install llvm-${llvm_debian}-dev. "
      "Elsewhere: -DBITALE_LLVM_INCLUDE_DIR=<folder that holds llvm-c/>.")
  endif()
  file(STRINGS ${BITALE_LLVM_INCLUDE_DIR}/llvm/Config/llvm-config.h llvm_version REGEX "LLVM_VERSION_STRING")
  string(REGEX MATCH "([0-9]+)[.]1[.0-9]*" llvm_version "${llvm_version}")
  set(BITALE_LLVM_MAJOR "${CMAKE_MATCH_1}")
  if(NOT BITALE_LLVM_MAJOR IN_LIST BITALE_LLVM_MAJORS)
    list(JOIN BITALE_LLVM_MAJORS ".1 or " llvm_wanted)
    message(FATAL_ERROR "Bitale needs LLVM ${llvm_wanted}.1; ${BITALE_LLVM_INCLUDE_DIR} has: ${llvm_version}")
  endif()
endif()

include(CheckIncludeFileCXX)
check_include_file_cxx(boost/math/special_functions/digamma.hpp BITALE_HAVE_BOOST_MATH)
if(NOT BITALE_HAVE_BOOST_MATH)
  message(FATAL_ERROR "Boost.Math's headers are missing. On Debian: apt-get install libboost-math-dev.")
endif()

# Only its ordering of sparse matrices, in one source file.
find_path(BITALE_EIGEN_INCLUDE_DIR Eigen/OrderingMethods PATH_SUFFIXES eigen3 DOC "The folder that holds Eigen/")
if(NOT BITALE_EIGEN_INCLUDE_DIR)
  message(FATAL_ERROR "Eigen's headers are missing. On Debian: apt-get install libeigen3-dev.")
endif()

check_include_file_cxx(hwy/contrib/sort/vqsort-inl.h BITALE_HAVE_HIGHWAY)
if(NOT BITALE_HAVE_HIGHWAY)
  message(STATUS "Sorting is left to the standard library, and small products to BLAS: Highway's headers are not here. On Debian: apt-get install libhwy-dev.")
endif()

check_include_file_cxx(xxhash.h BITALE_HAVE_XXHASH)
if(NOT BITALE_HAVE_XXHASH)
  message(FATAL_ERROR "xxHash's header is missing. On Debian: apt-get install libxxhash-dev.")
endif()
