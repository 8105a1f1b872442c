# cmake -D compiler=... -D options=FILE -D header=FILE -D case=FILE.cpp -D root=DIR -P check.cmake
#
# The case says near its top what is wrong with it, once or more:
#   // expect-error: REGEX
# and it must be refused with exactly one error, every REGEX in the text, and no more text than anybody reads (2,500 bytes,
# unless it says `// at-most-bytes: N`). With
# CROCHET_FIXED defined the same file must compile: that shows that it is refused for the one thing that differs.
cmake_minimum_required(VERSION 3.25)
set(limit 2500)

# CMake breaks the lines of a FATAL_ERROR; a compiler's text is to be read as it is.
function(fail text)
  message("${text}")
  message(FATAL_ERROR "${case}")
endfunction()

function(compile) # sets `status` and `text`
  execute_process(COMMAND ${compiler} @${options} ${ARGN} -fsyntax-only -include ${header} ${case}
    RESULT_VARIABLE status OUTPUT_VARIABLE text ERROR_VARIABLE text)
  string(REPLACE "${root}/" "" text "${text}") # or the length would depend on where the project lies
  set(status ${status} PARENT_SCOPE)
  set(text "${text}" PARENT_SCOPE)
endfunction()

file(READ ${case} source)
# What the executor finds out is said at the end of the way through the session; each step of it is a line of text.
if(source MATCHES "// at-most-bytes: ([0-9]+)")
  set(limit ${CMAKE_MATCH_1})
endif()
if(NOT source MATCHES "// expect-error: [^\n]")
  fail("there is no line `// expect-error: REGEX`")
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

compile(-DCROCHET_FIXED)
if(NOT status EQUAL 0)
  fail("the corrected program (CROCHET_FIXED) must compile, but:\n${text}")
endif()
message(STATUS "${bytes} bytes of ${limit}")
