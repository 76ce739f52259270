# What is installed, in three layouts. Component `library`: a prefix for C++, for find_package(bitale) and pkg-config.
# Components `runtime` and `development`: the same in two parts and in Debian's folders (Package.cmake). Component `python`:
# the same within the Python package, which pip installs; `python -m bitale --cmake-dir` names its CMake package.

include(CMakePackageConfigHelpers)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/bitaleConfigVersion.cmake COMPATIBILITY SameMinorVersion)

# Installs the library with all that belongs to it: what programs need as component `runtime`, the rest as component
# `development`, which may be the same. The folders are relative to the prefix. `openblas`: with the copy for packages.
# OPENED: the folder of the libraries that this one opens, if it is another one.
function(bitale_install runtime development libraries headers package)
  cmake_parse_arguments(PARSE_ARGV 5 with "OPENBLAS;NOT_BY_DEFAULT" "LICENCES;OPENED" "")
  set(opened ${libraries})
  if(with_OPENED)
    set(opened ${with_OPENED})
  endif()
  set(by_default "")
  if(with_NOT_BY_DEFAULT)
    set(by_default EXCLUDE_FROM_ALL)
  endif()
  set(links NAMELINK_COMPONENT ${development})
  if(SKBUILD)
    set(links NAMELINK_SKIP)  # wheels have no links
  endif()
  install(TARGETS bitale EXPORT bitale_${development} LIBRARY DESTINATION ${libraries} COMPONENT ${runtime} ${links} ${by_default}
    INCLUDES DESTINATION ${headers})
  install(TARGETS bitale_digits LIBRARY DESTINATION ${opened} COMPONENT ${runtime} ${by_default})
  if(TARGET bitale_llvm)
    install(TARGETS bitale_llvm LIBRARY DESTINATION ${opened} COMPONENT ${runtime} ${by_default})
  endif()
  if(with_OPENBLAS AND BITALE_OPENBLAS)
    install(PROGRAMS ${BITALE_OPENBLAS} DESTINATION ${libraries} COMPONENT ${runtime} ${by_default})
  endif()
  install(DIRECTORY include/ DESTINATION ${headers} COMPONENT ${development} ${by_default} FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h")
  install(EXPORT bitale_${development} NAMESPACE bitale:: FILE bitaleTargets.cmake DESTINATION ${package} COMPONENT ${development}
    ${by_default})
  set(own ${CMAKE_CURRENT_BINARY_DIR}/install_${development})
  configure_package_config_file(cmake/bitaleConfig.cmake.in ${own}/bitaleConfig.cmake INSTALL_DESTINATION ${package})
  install(FILES ${own}/bitaleConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/bitaleConfigVersion.cmake
    DESTINATION ${package} COMPONENT ${development} ${by_default})
  cmake_path(SET pkgconfig NORMALIZE ${libraries}/pkgconfig)
  cmake_path(RELATIVE_PATH libraries BASE_DIRECTORY ${pkgconfig} OUTPUT_VARIABLE to_libraries)
  cmake_path(RELATIVE_PATH headers BASE_DIRECTORY ${pkgconfig} OUTPUT_VARIABLE to_headers)
  configure_file(cmake/bitale.pc.in ${own}/bitale.pc @ONLY)
  install(FILES ${own}/bitale.pc DESTINATION ${pkgconfig} COMPONENT ${development} ${by_default})
  if(with_LICENCES)
    install(DIRECTORY ${licence_folder}/ DESTINATION ${with_LICENCES} COMPONENT ${runtime} ${by_default})
  endif()
endfunction()

bitale_install(library library ${CMAKE_INSTALL_LIBDIR} ${CMAKE_INSTALL_INCLUDEDIR} ${CMAKE_INSTALL_LIBDIR}/cmake/bitale
  OPENBLAS LICENCES ${CMAKE_INSTALL_DATADIR}/licenses/bitale)
if(CMAKE_LIBRARY_ARCHITECTURE)
  set(debian_libraries lib/${CMAKE_LIBRARY_ARCHITECTURE})
  bitale_install(runtime development ${debian_libraries} include ${debian_libraries}/cmake/bitale NOT_BY_DEFAULT
    OPENED ${debian_libraries}/${bitale_own_folder})
endif()
if(BITALE_BUILD_PYTHON)
  bitale_install(python python bitale bitale/include bitale/cmake OPENBLAS LICENCES bitale/licences)
endif()
