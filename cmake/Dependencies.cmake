# Only headers: LLVM (Llvm.cmake), BLAS and LAPACK are loaded at run time.

find_package(Threads REQUIRED)

set(BITALE_LLVM_MAJOR 19)
find_path(BITALE_LLVM_INCLUDE_DIR llvm-c/TargetMachine.h
  HINTS $ENV{LLVM_DIR}/include /usr/lib/llvm-${BITALE_LLVM_MAJOR}/include
  DOC "The folder that holds llvm-c/" NO_CMAKE_SYSTEM_PATH)
if(NOT BITALE_LLVM_INCLUDE_DIR)
  message(FATAL_ERROR "LLVM ${BITALE_LLVM_MAJOR}'s C headers (llvm-c/) are missing. On Debian: apt-get install llvm-${BITALE_LLVM_MAJOR}-dev. "
    "Elsewhere: -DBITALE_LLVM_INCLUDE_DIR=<folder that holds llvm-c/>.")
endif()
file(STRINGS ${BITALE_LLVM_INCLUDE_DIR}/llvm/Config/llvm-config.h llvm_version REGEX "LLVM_VERSION_STRING")
if(NOT llvm_version MATCHES "\"${BITALE_LLVM_MAJOR}\\.1")
  message(FATAL_ERROR "Bitale needs LLVM ${BITALE_LLVM_MAJOR}.1; ${BITALE_LLVM_INCLUDE_DIR} has: ${llvm_version}")
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
