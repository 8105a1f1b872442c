# cmake -D compiler=... -D options="..." -D header=crochet/hooks.hpp -D says=REGEX -D work=DIR -P one_error.cmake: a
# program that includes the header with these options must be rejected with one fatal error of one sentence.
cmake_minimum_required(VERSION 3.25)
separate_arguments(options NATIVE_COMMAND "${options}")
string(MAKE_C_IDENTIFIER "${header}_${says}" name)
set(source ${work}/${name}_${number}.cpp)
file(WRITE ${source} "#include <${header}>\nint main() {}\n")
execute_process(COMMAND ${compiler} ${options} -fno-diagnostics-color -fsyntax-only ${source}
  RESULT_VARIABLE status OUTPUT_VARIABLE text ERROR_VARIABLE text)
string(REPLACE "${root}/" "" text "${text}")
file(REMOVE ${source})
string(REGEX MATCHALL "error: " errors "${text}")
list(LENGTH errors count)
string(LENGTH "${text}" bytes)
if(status EQUAL 0 OR NOT count EQUAL 1 OR NOT text MATCHES "fatal error: .*${says}" OR bytes GREATER 1500)
  message("${text}")
  message(FATAL_ERROR "${header}: ${count} errors, ${bytes} bytes; expected one fatal error that says ${says}")
endif()
