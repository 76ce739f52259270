# bitale_codegen_version.inc: a digest of all sources that generated code depends on, which is part of the key of cached
# code.
# Included by the build; run as a script, it writes the file: cmake -DROOT=... -DOUTPUT=... -P CodegenVersion.cmake

set(codegen_source_globs src/codegen/*.?pp src/program/*.?pp src/runtime/*.?pp)

if(CMAKE_SCRIPT_MODE_FILE)
  list(TRANSFORM codegen_source_globs PREPEND ${ROOT}/)
  file(GLOB_RECURSE files RELATIVE ${ROOT} ${codegen_source_globs})
  list(SORT files)
  set(all "")
  foreach(file ${files})
    file(SHA256 ${ROOT}/${file} digest)
    string(APPEND all "${file} ${digest}\n")
  endforeach()
  string(SHA256 version "${all}")
  file(WRITE ${OUTPUT} "#define BITALE_CODEGEN_VERSION \"${version}\"\n")
  return()
endif()

file(GLOB_RECURSE codegen_sources CONFIGURE_DEPENDS ${codegen_source_globs})
set(generated ${CMAKE_CURRENT_BINARY_DIR}/generated)
add_custom_command(OUTPUT ${generated}/bitale_codegen_version.inc
  COMMAND ${CMAKE_COMMAND} -DROOT=${CMAKE_CURRENT_SOURCE_DIR} -DOUTPUT=${generated}/bitale_codegen_version.inc
    -P ${CMAKE_CURRENT_LIST_FILE}
  DEPENDS ${codegen_sources} ${CMAKE_CURRENT_LIST_FILE}
  COMMENT "Digest of the code generator's sources")
# Only the file that includes it gets the folder: the compiler's other command lines are unchanged.
set_source_files_properties(src/codegen/key.cpp PROPERTIES
  INCLUDE_DIRECTORIES ${generated}
  OBJECT_DEPENDS ${generated}/bitale_codegen_version.inc)
