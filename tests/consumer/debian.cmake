# cmake -DBUILD=FOLDER -DVERSION=0.2 -DPREFIX=FOLDER -P debian.cmake: every file of Debian's package of the library has the
# version in its path, so that the package of another version is installed beside it.
file(REMOVE_RECURSE ${PREFIX})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --component runtime --prefix ${PREFIX} OUTPUT_QUIET
  COMMAND_ERROR_IS_FATAL ANY)
file(GLOB_RECURSE files RELATIVE ${PREFIX} ${PREFIX}/*)
list(LENGTH files count)
list(FILTER files EXCLUDE REGEX "[.]so[.]${VERSION}|bitale-?${VERSION}/")
if(count LESS 3 OR files)
  message(FATAL_ERROR "of ${count} files of the package, these would be another version's, too: ${files}")
endif()
