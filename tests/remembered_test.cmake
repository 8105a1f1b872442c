# What a check adds to its command to be remembered (remembered/passed.cmake), with the property FIXTURES_REQUIRED
# sources. The sources are the headers of the library and the compilers; `case` and `parts` are the check's own files.
set(CROCHET_REMEMBERED -D sources=${CMAKE_CURRENT_BINARY_DIR}/remembered/sources
  -D passed=${CMAKE_CURRENT_BINARY_DIR}/remembered/passed)

# crochet_remembered_test(<name> CASE <file> [PARTS <file>...] [LABELS <label>...] COMMAND <command> <argument>...): a
# test by a command, which is not repeated while nothing has changed.
function(crochet_remembered_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "CASE" "PARTS;LABELS;COMMAND")
  add_test(NAME ${name} COMMAND ${CMAKE_COMMAND} -D case=${arg_CASE} "-Dparts=${arg_PARTS}" ${CROCHET_REMEMBERED}
    -P ${PROJECT_SOURCE_DIR}/tests/remembered/remembered.cmake -- ${arg_COMMAND})
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}" FIXTURES_REQUIRED sources ENVIRONMENT LC_ALL=C)
endfunction()
