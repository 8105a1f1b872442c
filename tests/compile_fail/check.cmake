# cmake -D compiler=... -D options=FILE -D header=FILE -D case=FILE.cpp -D root=DIR [-D twin=OFF]
#   [-D sources=FILE -D passed=DIR] -P check.cmake
#
# The case states its error near the top, with one or more lines:
#   // expect-error: REGEX
# and may limit where the text of the first one ends:
#   // reason-within-bytes: N
# `// gnu-options: OPTION...` adds options for g++.
# The compiler must reject it with exactly one error, every REGEX in the text, and at most 2,500 bytes of text
# (`// at-most-bytes: N` sets another limit). With CROCHET_FIXED defined the same file must compile, so the difference is
# the only cause of the error. twin=OFF skips this second compilation, which takes most of the time.
cmake_minimum_required(VERSION 3.25)
set(limit 2500)

# CMake rewraps the lines of a FATAL_ERROR; the compiler's text must stay unchanged.
function(fail text)
  message("${text}")
  message(FATAL_ERROR "${case}")
endfunction()

function(compile) # sets `status` and `text`
  execute_process(COMMAND ${compiler} @${options} ${more_options} ${ARGN} -fsyntax-only -include ${header} ${case}
    RESULT_VARIABLE status OUTPUT_VARIABLE text ERROR_VARIABLE text)
  string(REPLACE "${root}/" "" text "${text}") # the length must not depend on the project's path
  # ... and on the precompiled header, which users do not have.
  string(REGEX REPLACE "(In file included|                ) from [^\n]*/(gnu|clang)/[a-z]+\\.hpp:[0-9]+[:,]\n" ""
    text "${text}")
  set(status ${status} PARENT_SCOPE)
  set(text "${text}" PARENT_SCOPE)
endfunction()

if(DEFINED sources)
  include(${CMAKE_CURRENT_LIST_DIR}/../remembered/passed.cmake)
  crochet_passed(unchanged "${compiler} ${header} ${twin}")
  if(unchanged)
    message(STATUS "passed before, and nothing has changed")
    return()
  endif()
endif()

file(READ ${case} source)
set(more_options)
if(options MATCHES "/gnu/" AND source MATCHES "// gnu-options: ([^\n]+)")
  separate_arguments(more_options UNIX_COMMAND "${CMAKE_MATCH_1}")
endif()
# Errors in the executor come at the end of the instantiation trace through the session. Each level of the trace is a
# line of text.
if(source MATCHES "// at-most-bytes: ([0-9]+)")
  set(limit ${CMAKE_MATCH_1})
endif()
if(NOT source MATCHES "// expect-error: [^\n]" OR source MATCHES "// expect-error: *\n")
  fail("there is no line `// expect-error: REGEX`, or one without REGEX")
endif()

set(reason_limit)
if(source MATCHES "// reason-within-bytes: ([0-9]+)")
  set(reason_limit ${CMAKE_MATCH_1})
endif()

compile()
if(status EQUAL 0)
  fail("this must not compile, but does")
endif()
while(source MATCHES "// expect-error: ([^\n]+)\n(.*)")
  set(expected "${CMAKE_MATCH_1}")
  set(source "${CMAKE_MATCH_2}")
  if(NOT text MATCHES "${expected}")
    fail("no line that matches `${expected}` in:\n${text}")
  endif()
  if(reason_limit)
    string(FIND "${text}" "${CMAKE_MATCH_0}" begin)
    string(LENGTH "${CMAKE_MATCH_0}" length)
    math(EXPR end "${begin} + ${length}")
    if(end GREATER reason_limit)
      fail("`${expected}` ends at byte ${end}, the limit is ${reason_limit}:\n${text}")
    endif()
    set(reason_limit)
  endif()
endwhile()
string(REGEX MATCHALL ": (fatal )?error: " errors "${text}")
list(LENGTH errors count)
if(NOT count EQUAL 1)
  fail("expected one error, got ${count}:\n${text}")
endif()
string(LENGTH "${text}" bytes)
if(bytes GREATER limit)
  fail("${bytes} bytes of text, the limit is ${limit}:\n${text}")
endif()

if(NOT DEFINED twin OR twin)
  compile(-DCROCHET_FIXED)
  if(NOT status EQUAL 0)
    fail("the corrected program (CROCHET_FIXED) must compile, but:\n${text}")
  endif()
endif()
message(STATUS "${bytes} bytes of ${limit}")
if(DEFINED sources)
  crochet_remember_pass()
endif()
