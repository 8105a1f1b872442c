# cmake -D compiler=... -D include_dirs=... -D root=... -D folders=... -P check_light.cmake: the headers of these
# folders include no header of the libraries that their compiled halves use.
cmake_minimum_required(VERSION 3.25)
list(TRANSFORM include_dirs PREPEND -I)
foreach(folder IN LISTS folders)
  file(GLOB headers RELATIVE ${root} ${root}/crochet/${folder}/*.hpp)
  foreach(header IN LISTS headers)
    string(APPEND source "#include <${header}>\n")
  endforeach()
endforeach()
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/light.cpp "${source}")
execute_process(COMMAND ${compiler} -std=c++20 ${include_dirs} -M ${CMAKE_CURRENT_BINARY_DIR}/light.cpp
  OUTPUT_VARIABLE read COMMAND_ERROR_IS_FATAL ANY)

foreach(unwanted IN ITEMS /google/protobuf/ /crochet/proto/ /leveldb/ /isa-l/ "/png\\.h[^p]" /nlohmann/ /grpc /openssl/)
  string(REGEX MATCH "[^ ]*${unwanted}[^ \n]*" found "${read}")
  if(found)
    list(APPEND complaints "${found}")
  endif()
endforeach()
list(GET folders 0 first)
if(complaints OR NOT read MATCHES "/crochet/${first}/")
  message(FATAL_ERROR "headers of ${folders} must not bring: ${complaints}")
endif()
