# cmake -D root=DIR -P check_instruction_sets.cmake: headers under DIR put what depends on the instruction set in the
# inline namespace of base/instruction_set.hpp, which they include. Functions for two instruction sets have two names,
# so the files of one program may have different options.
cmake_minimum_required(VERSION 3.25)

# What no instruction set changes: the interface of ranks, which compiled parts of programs share.
set(kernels/exchange.hpp yes)

set(complaints "")
set(checked 0)
foreach(folder IN ITEMS kernels/crochet include/crochet)
  file(GLOB_RECURSE headers RELATIVE ${root}/${folder} ${root}/${folder}/*.hpp)
  foreach(header IN LISTS headers)
    if(${header})
      continue()
    endif()
    file(READ ${root}/${folder}/${header} text)
    string(REGEX REPLACE "namespace kernel {\nclass [A-Za-z]+;\n}" "" text "${text}") # a declaration of one of those
    if(text MATCHES "\n(namespace (crochet::)?(kernel|simd|cpu)(::[a-z_]+)* {)")
      list(APPEND complaints "${header} has `${CMAKE_MATCH_1}` without CROCHET_ISA")
    elseif(text MATCHES "\nnamespace [a-z_:]+::CROCHET_ISA" AND
           NOT text MATCHES "\n#include <crochet/base/instruction_set\\.hpp>")
      list(APPEND complaints "${header} has CROCHET_ISA without base/instruction_set.hpp")
    endif()
    math(EXPR checked "${checked} + 1")
  endforeach()
endforeach()

foreach(complaint IN LISTS complaints)
  message("${complaint}")
endforeach()
if(complaints OR checked EQUAL 0)
  message(FATAL_ERROR "See base/instruction_set.hpp. (${checked} headers checked.)")
endif()
message(STATUS "${checked} headers name what depends on the instruction set after it")
