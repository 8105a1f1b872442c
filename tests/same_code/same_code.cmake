# cmake -D compiler=... -D include_dirs=... -D hooks=N [-D keyed=keyed] -D work=DIR -P same_code.cmake
#
# Compiles the step of a chain of N hooks and the same step written by hand, and compares the machine code. Both must
# have the same instructions, except for registers and order. The chain's code must have no indirect call.
cmake_minimum_required(VERSION 3.25)
list(TRANSFORM include_dirs PREPEND -I)
if(keyed) # "keyed" or empty
  set(definitions -DCROCHET_KEYED)
endif()
find_program(objdump objdump REQUIRED)

# Sets `<twin>_opcodes`, sorted, and `<twin>_indirect`.
function(compile twin)
  set(object ${work}/${twin}.o)
  execute_process(COMMAND ${compiler} -std=c++20 -O2 -DCROCHET_HOOKS=${hooks} ${definitions} ${include_dirs}
    -c ${CMAKE_CURRENT_LIST_DIR}/${twin}.cpp -o ${object} COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${objdump} -dC --no-show-raw-insn ${object} OUTPUT_VARIABLE code COMMAND_ERROR_IS_FATAL ANY)
  if(NOT code MATCHES "<step\\([^\n]*\\)>:\n(([^\n]+\n)+)")
    message(FATAL_ERROR "no function step in ${object}:\n${code}")
  endif()
  set(body ${CMAKE_MATCH_1})
  string(REGEX MATCHALL "\t(call|jmp) +\\*[^\n]*" indirect "${body}")
  string(REGEX MATCHALL "\n +[0-9a-f]+:\t[a-z0-9]+" opcodes "\n${body}")
  list(TRANSFORM opcodes REPLACE ".*\t" "")
  list(FILTER opcodes EXCLUDE REGEX "^(nop|nopw|nopl|xchg|data16|cs|endbr64)$") # padding
  list(SORT opcodes)
  set(${twin}_opcodes "${opcodes}" PARENT_SCOPE)
  set(${twin}_indirect "${indirect}" PARENT_SCOPE)
endfunction()

file(MAKE_DIRECTORY ${work})
compile(chain)
compile(hand)
list(LENGTH chain_opcodes count)
if(count LESS 5)
  message(FATAL_ERROR "only ${count} instructions were found: the disassembly was not understood")
endif()
if(NOT chain_opcodes STREQUAL hand_opcodes)
  message(FATAL_ERROR "a chain of ${hooks} hooks is not what one would write by hand:\nchain ${chain_opcodes}\nhand  ${hand_opcodes}")
endif()
if(chain_indirect)
  message(FATAL_ERROR "a step of ${hooks} hooks has indirect calls: ${chain_indirect}")
endif()
message(STATUS "${hooks} hooks: ${count} instructions, the same as by hand, no indirect call")
