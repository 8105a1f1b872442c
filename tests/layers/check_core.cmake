# cmake -D compiler=... -D include_dirs=... -P check_core.cmake: the headers that crochet.hpp includes are cheap. None
# belongs to a component, and none is a large header of the standard library.
cmake_minimum_required(VERSION 3.25)
list(TRANSFORM include_dirs PREPEND -I)
set(source "#include <crochet/crochet.hpp>\n")
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/core_is_light.cpp ${source})
execute_process(COMMAND ${compiler} -std=c++20 ${include_dirs} -M ${CMAKE_CURRENT_BINARY_DIR}/core_is_light.cpp
  OUTPUT_VARIABLE read COMMAND_ERROR_IS_FATAL ANY)

foreach(unwanted IN ITEMS /Eigen/ /grpc /google/protobuf/ /cuda /zlib.h /mpi.h /gtest/ /crochet/hooks/ /crochet/io/
    /crochet/data /crochet/testing /crochet/executor/cpu /crochet/hana /boost/
    "/c\\+\\+/[0-9.]+/(functional|iostream|chrono|filesystem|ranges|regex)")
  string(REGEX MATCH "[^ ]*${unwanted}[^ \n]*" found "${read}")
  if(found)
    list(APPEND complaints "${found}")
  endif()
endforeach()
if(complaints OR NOT read MATCHES "/crochet/crochet.hpp")
  message(FATAL_ERROR "crochet.hpp must not bring: ${complaints}")
endif()
