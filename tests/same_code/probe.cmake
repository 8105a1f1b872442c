# cmake -D compiler=... -D include_dirs=... -D work=DIR -P probe.cmake
#
# A plain step has the same instructions whether or not the program has probed runs of the same executor, and refers to
# none of their symbols. A hook with a probe adds one test to a step, and a call for a due probe.
cmake_minimum_required(VERSION 3.25)
list(TRANSFORM include_dirs PREPEND -I)
find_program(objdump objdump REQUIRED)
file(MAKE_DIRECTORY ${work})

# Compiles probe.cpp and sets `code`.
function(compile twin)
  set(object ${work}/${twin}.o)
  execute_process(COMMAND ${compiler} -std=c++20 -O2 ${ARGN} ${include_dirs}
    -c ${CMAKE_CURRENT_LIST_DIR}/probe.cpp -o ${object} COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${objdump} -drC --no-show-raw-insn ${object} OUTPUT_VARIABLE code COMMAND_ERROR_IS_FATAL ANY)
  set(code "${code}" PARENT_SCOPE)
endfunction()

# The opcodes of `list` in an order that does not depend on the choice of registers: sorted between jumps and calls. Of
# several free registers g++ takes one or the other, and its moves then stand elsewhere among its neighbours.
function(sort_pieces list)
  foreach(opcode IN LISTS ${list})
    list(APPEND piece ${opcode})
    if(opcode MATCHES "^(j[a-z]+|call|ret)$")
      list(SORT piece)
      list(APPEND sorted ${piece})
      set(piece)
    endif()
  endforeach()
  list(SORT piece)
  set(${list} ${sorted} ${piece} PARENT_SCOPE)
endfunction()

# Sets `body`, `opcodes` (see sort_pieces) and `count` of a function.
function(look_at name)
  if(NOT code MATCHES "<${name}\\([^\n]*\\)>:\n(([^\n]+\n)+)")
    message(FATAL_ERROR "no function ${name}")
  endif()
  set(body "\n${CMAKE_MATCH_1}")
  string(REGEX MATCHALL "\n +[0-9a-f]+:\t[a-z0-9]+" opcodes "${body}")
  list(TRANSFORM opcodes REPLACE ".*\t" "")
  list(FILTER opcodes EXCLUDE REGEX "^(nop|nopw|nopl|xchg|data16|cs|endbr64)$")
  list(LENGTH opcodes count)
  if(count LESS 5)
    message(FATAL_ERROR "only ${count} instructions of ${name} were found: the disassembly was not understood")
  endif()
  sort_pieces(opcodes)
  foreach(name IN ITEMS body opcodes count)
    set(${name} "${${name}}" PARENT_SCOPE)
  endforeach()
endfunction()

compile(plain)
look_at(step)
set(plain_opcodes "${opcodes}")
compile(probed -DCROCHET_PROBED)
if(NOT code MATCHES "<probed_step\\(")
  message(FATAL_ERROR "the program has no probed step to compare with")
endif()
look_at(step)
if(NOT opcodes STREQUAL plain_opcodes)
  message(FATAL_ERROR "a plain step is other code where there are probed ones:\nalone ${plain_opcodes}\nbeside ${opcodes}")
endif()
if(body MATCHES "[^\n]*([Pp]robe|note\\()[^\n]*")
  message(FATAL_ERROR "a plain step names a probe: ${CMAKE_MATCH_0}")
endif()
message(STATUS "a plain step: ${count} instructions, with and without probed ones")

look_at(plain_chain)
set(plain_count ${count})
look_at(probing_chain)
math(EXPR more "${count} - ${plain_count}")
if(more GREATER 40) # the test, the call, and clang's code for exceptions
  message(FATAL_ERROR "a hook that states a probe adds ${more} instructions to a step of ${plain_count}")
endif()
if(body MATCHES "on_node_|note\\(")
  message(FATAL_ERROR "a step under a hook that states a probe has the probe's work in it")
endif()
message(STATUS "a hook that states a probe: ${plain_count} instructions and ${more} more")
