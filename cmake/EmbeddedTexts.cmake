# Scripts and styles as string literals (layout_js is that of layout.js), in NAME.inc for the sources that include it: those of the pages
# that show graphs and times, and the script that loads functions exported for WebAssembly.

function(embed_texts name folder)
  cmake_parse_arguments(PARSE_ARGV 2 embedded "" "" "FILES;SOURCES")
  set(literals "")
  foreach(file ${embedded_FILES})
    set(path ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/${file})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path})
    file(READ ${path} text)
    string(REPLACE "." "_" variable ${file})
    string(APPEND literals "inline constexpr std::string_view ${variable} = R\"embedded(${text})embedded\";\n")
  endforeach()
  set(generated ${CMAKE_CURRENT_BINARY_DIR}/generated_${name})
  file(CONFIGURE OUTPUT ${generated}/${name}.inc CONTENT "@literals@" @ONLY)
  set_source_files_properties(${embedded_SOURCES} PROPERTIES INCLUDE_DIRECTORIES ${generated}
    OBJECT_DEPENDS ${generated}/${name}.inc)
endfunction()

embed_texts(printing_page_files src/printing/page FILES page.css layout.js fold.js view.js flame.css flame.js
  SOURCES src/printing/page.cpp src/printing/flame.cpp)
embed_texts(wasm_files src/codegen/c FILES wasm_loader.js SOURCES src/codegen/c/wasm.cpp)
