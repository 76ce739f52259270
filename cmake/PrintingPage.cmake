# printing_page_files.inc: the scripts and styles of src/printing/page as string literals, for the pages that show graphs
# and times.

set(page_dir ${CMAKE_CURRENT_SOURCE_DIR}/src/printing/page)
set(page_literals "")
foreach(file page.css layout.js fold.js view.js flame.css flame.js)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${page_dir}/${file})
  file(READ ${page_dir}/${file} text)
  string(REPLACE "." "_" name page_${file})
  string(REPLACE "page_page" "page" name ${name})
  string(APPEND page_literals "inline constexpr std::string_view ${name} = R\"page_file(${text})page_file\";\n")
endforeach()
set(page_generated ${CMAKE_CURRENT_BINARY_DIR}/generated_page)
file(CONFIGURE OUTPUT ${page_generated}/printing_page_files.inc CONTENT "@page_literals@" @ONLY)
set_source_files_properties(src/printing/page.cpp src/printing/flame.cpp PROPERTIES INCLUDE_DIRECTORIES ${page_generated}
  OBJECT_DEPENDS ${page_generated}/printing_page_files.inc)
