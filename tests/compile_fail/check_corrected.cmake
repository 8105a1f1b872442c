# cmake -D compiler= -D options=FILE -D header=FILE -D case=FILE.cpp -D sources=FILE -D passed=DIR -P check_corrected.cmake:
# a file of corrected twins must compile.
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/../remembered/passed.cmake)
file(STRINGS ${case} parts REGEX "^#include \"/")
list(TRANSFORM parts REPLACE "^#include \"([^\"]+)\".*" "\\1")
crochet_passed(unchanged "${compiler} ${header}")
if(unchanged)
  message(STATUS "passed before, and nothing has changed")
  return()
endif()
execute_process(COMMAND ${compiler} @${options} -fsyntax-only -include ${header} ${case} COMMAND_ERROR_IS_FATAL ANY)
crochet_remember_pass()
