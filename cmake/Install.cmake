# Component `library`: what a C++ project needs for find_package(bitale). The Python module has its own (PythonModule.cmake).

include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/bitale)

install(TARGETS bitale EXPORT bitale
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library
  NAMELINK_COMPONENT library)
install(TARGETS bitale_digits LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library)
if(TARGET bitale_llvm)
  install(TARGETS bitale_llvm LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library)
endif()
install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT library FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h")
install(EXPORT bitale NAMESPACE bitale:: FILE bitaleTargets.cmake DESTINATION ${package_dir} COMPONENT library)

configure_package_config_file(cmake/bitaleConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/bitaleConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/bitaleConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/bitaleConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/bitaleConfigVersion.cmake
  DESTINATION ${package_dir} COMPONENT library)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/licenses/bitale COMPONENT library)
install(FILES third_party/pocketfft/LICENSE.md DESTINATION ${CMAKE_INSTALL_DATADIR}/licenses/bitale COMPONENT library RENAME pocketfft)
