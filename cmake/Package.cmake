# Packages for C++ (`./dev package`): libbitale0.2 (of version 0.2) and libbitale-dev for Debian, and an archive of a prefix for any Linux. All
# three have the same libraries, those of components `runtime` and `development`, which are `library` in two parts and in
# Debian's folders (Install.cmake).

set(CPACK_GENERATOR TGZ DEB)
set(CPACK_PACKAGE_NAME bitale)
set(CPACK_PACKAGE_VENDOR "Bitale developers")
set(CPACK_PACKAGE_CONTACT "Bitale developers <developers@bitale.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_CURRENT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_THREADS 2)
# Each generator packs its own components.
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/cpack_components.cmake [[
if(CPACK_GENERATOR STREQUAL "DEB")
  set(CPACK_COMPONENTS_ALL runtime development)
else()
  set(CPACK_COMPONENTS_ALL library)
  set(CPACK_COMPONENT_INCLUDE_TOPLEVEL_DIRECTORY ON)
endif()
]])
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_CURRENT_BINARY_DIR}/cpack_components.cmake)

# ---- the archive -------------------------------------------------------------------------------------------------

set(CPACK_ARCHIVE_COMPONENT_INSTALL ON)
string(TOLOWER "bitale-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR}" archive_name)
set(CPACK_ARCHIVE_LIBRARY_FILE_NAME ${archive_name})
set(CPACK_PACKAGE_FILE_NAME ${archive_name})  # the archive's only folder

# ---- Debian ------------------------------------------------------------------------------------------------------

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
# Called after the name of the library that it holds, libbitale.so.0.2, so that another version is installed beside it.
set(debian_runtime libbitale${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME ${debian_runtime})
set(CPACK_DEBIAN_RUNTIME_PACKAGE_REPLACES libbitale0)  # what libbitale0.2 was called before
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONFLICTS libbitale0)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SHLIBDEPS ON)  # dpkg-shlibdeps
set(CPACK_DEBIAN_RUNTIME_PACKAGE_RECOMMENDS libopenblas0)  # opened when the first product of matrices is computed
# What packages of programs that link the library depend on, and that the loader's cache is made anew.
set(debian_control ${CMAKE_CURRENT_BINARY_DIR}/debian_control)
file(WRITE ${debian_control}/shlibs
  "libbitale ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} ${debian_runtime} (>= ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})\n")
file(WRITE ${debian_control}/triggers "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA ${debian_control}/shlibs ${debian_control}/triggers)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libbitale-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "${debian_runtime} (= ${PROJECT_VERSION}-1)")
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION "Bitale compiles mathematics over tensors: expressions, their gradients, and
native functions that are made of them in milliseconds, inside the process.
.
This package contains the library.")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "Bitale compiles mathematics over tensors: expressions, their gradients, and
native functions that are made of them in milliseconds, inside the process.
.
This package contains the headers, and what CMake and pkg-config need.")

# What each Debian package has in /usr/share/doc: the licences of its parts in one file, and two changelogs.
find_program(BITALE_GZIP gzip)
file(READ ${CMAKE_CURRENT_SOURCE_DIR}/CHANGELOG.md changelog)
string(REGEX MATCH "## [[]${PROJECT_VERSION}[]] - ([0-9]+-[0-9]+-[0-9]+)" _ "${changelog}")
set(released "${CMAKE_MATCH_1}")
execute_process(COMMAND date -R -u -d "${released}" OUTPUT_VARIABLE released_at OUTPUT_STRIP_TRAILING_WHITESPACE)  # today, if not yet
set(debian_documents ${CMAKE_CURRENT_BINARY_DIR}/debian)
file(MAKE_DIRECTORY ${debian_documents})
file(WRITE ${debian_documents}/copyright "Bitale\n")
foreach(part ${licence_parts})
  if(NOT part MATCHES "^(nanobind|robin-map|openblas)$")  # not in these packages
    file(READ ${licence_folder}/${part}.txt text)
    string(REGEX REPLACE "\n\n---- /usr/share/common-licenses/.*" "\n" text "${text}")  # Debian's systems have them
    file(APPEND ${debian_documents}/copyright "\n==== ${part} ====\n\n${text}")
  endif()
endforeach()
file(WRITE ${debian_documents}/changelog.Debian
  "bitale (${PROJECT_VERSION}-1) unstable; urgency=medium\n\n  * Release ${PROJECT_VERSION}.\n\n -- ${CPACK_PACKAGE_CONTACT}  ${released_at}\n")
if(BITALE_GZIP)
  configure_file(CHANGELOG.md ${debian_documents}/changelog COPYONLY)
  foreach(file changelog changelog.Debian)
    execute_process(COMMAND ${BITALE_GZIP} -9nf ${debian_documents}/${file} COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
  foreach(package runtime=${debian_runtime} development=libbitale-dev)
    string(REPLACE "=" ";" package ${package})
    list(GET package 0 component)
    list(GET package 1 name)
    install(FILES ${debian_documents}/copyright ${debian_documents}/changelog.gz ${debian_documents}/changelog.Debian.gz
      DESTINATION share/doc/${name} COMPONENT ${component} EXCLUDE_FROM_ALL)
  endforeach()
endif()

include(CPack)
