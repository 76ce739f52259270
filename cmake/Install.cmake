# What is installed, in two layouts. Component `library`: a prefix for C++, for find_package(bitale) and pkg-config.
# Component `python`: the same within the Python package, which pip installs; `python -m bitale --cmake-dir` names its CMake
# package.

include(CMakePackageConfigHelpers)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/bitaleConfigVersion.cmake COMPATIBILITY SameMinorVersion)

# Installs the library with all that belongs to it. The folders are relative to the prefix.
function(bitale_install component libraries headers package licences)
  set(with_links NAMELINK_COMPONENT ${component})
  if(SKBUILD)
    set(with_links NAMELINK_SKIP)  # wheels have no links
  endif()
  install(TARGETS bitale EXPORT bitale_${component} LIBRARY DESTINATION ${libraries} COMPONENT ${component} ${with_links}
    INCLUDES DESTINATION ${headers})
  install(TARGETS bitale_digits LIBRARY DESTINATION ${libraries} COMPONENT ${component})
  if(TARGET bitale_llvm)
    install(TARGETS bitale_llvm LIBRARY DESTINATION ${libraries} COMPONENT ${component})
  endif()
  if(BITALE_OPENBLAS)
    install(PROGRAMS ${BITALE_OPENBLAS} DESTINATION ${libraries} COMPONENT ${component})
  endif()
  install(DIRECTORY include/ DESTINATION ${headers} COMPONENT ${component} FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h")
  install(EXPORT bitale_${component} NAMESPACE bitale:: FILE bitaleTargets.cmake DESTINATION ${package} COMPONENT ${component})
  set(own ${CMAKE_CURRENT_BINARY_DIR}/install_${component})
  configure_package_config_file(cmake/bitaleConfig.cmake.in ${own}/bitaleConfig.cmake INSTALL_DESTINATION ${package})
  install(FILES ${own}/bitaleConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/bitaleConfigVersion.cmake
    DESTINATION ${package} COMPONENT ${component})
  cmake_path(SET pkgconfig NORMALIZE ${libraries}/pkgconfig)
  cmake_path(RELATIVE_PATH libraries BASE_DIRECTORY ${pkgconfig} OUTPUT_VARIABLE to_libraries)
  cmake_path(RELATIVE_PATH headers BASE_DIRECTORY ${pkgconfig} OUTPUT_VARIABLE to_headers)
  configure_file(cmake/bitale.pc.in ${own}/bitale.pc @ONLY)
  install(FILES ${own}/bitale.pc DESTINATION ${pkgconfig} COMPONENT ${component})
  install(DIRECTORY ${licence_folder}/ DESTINATION ${licences} COMPONENT ${component})
endfunction()

bitale_install(library ${CMAKE_INSTALL_LIBDIR} ${CMAKE_INSTALL_INCLUDEDIR} ${CMAKE_INSTALL_LIBDIR}/cmake/bitale
  ${CMAKE_INSTALL_DATADIR}/licenses/bitale)
if(BITALE_BUILD_PYTHON)
  bitale_install(python bitale bitale/include bitale/cmake bitale/licences)
endif()
