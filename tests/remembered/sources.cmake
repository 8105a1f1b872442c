# cmake -D root=DIR -D compilers=LIST -D result=FILE -P sources.cmake: a number for everything that all checks depend on:
# the headers, the checks' own headers and script, and the compilers.
cmake_minimum_required(VERSION 3.25)
file(GLOB_RECURSE files ${root}/include/* ${root}/kernels/* ${root}/proto/* ${root}/tests/compile_fail/*.hpp
  ${root}/tests/compile_fail/*.py ${root}/tests/remembered/*.cmake)
list(SORT files)
set(all "")
foreach(file IN LISTS files)
  file(SHA256 ${file} hash)
  string(APPEND all "${file} ${hash}\n")
endforeach()
foreach(compiler IN LISTS compilers)
  execute_process(COMMAND ${compiler} --version OUTPUT_VARIABLE version COMMAND_ERROR_IS_FATAL ANY)
  string(APPEND all "${version}")
endforeach()
string(SHA256 all "${all}")
file(WRITE ${result} ${all})
