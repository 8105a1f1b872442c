# What nvcc has compiled is not compiled again while headers, tests and nvcc are the same.
#
# crochet_unchanged(<result> <folder> <nvcc>): whether crochet_remember(<folder>) was called for these.
function(crochet_unchanged result folder nvcc)
  cmake_path(SET root NORMALIZE ${CMAKE_CURRENT_LIST_DIR}/../..)
  file(GLOB_RECURSE files ${root}/include/* ${root}/kernels/* ${root}/tests/cuda/*)
  list(SORT files)
  execute_process(COMMAND ${nvcc} --version OUTPUT_VARIABLE all COMMAND_ERROR_IS_FATAL ANY)
  foreach(file IN LISTS files)
    file(SHA256 ${file} hash)
    string(APPEND all "${file} ${hash}\n")
  endforeach()
  string(SHA256 all "${all}")
  set(crochet_inputs ${all} PARENT_SCOPE)
  set(${result} OFF PARENT_SCOPE)
  if(EXISTS ${folder}/inputs)
    file(READ ${folder}/inputs before)
    if(before STREQUAL all)
      set(${result} ON PARENT_SCOPE)
    endif()
  endif()
endfunction()

# crochet_remember(<folder>): behind checks that passed.
macro(crochet_remember folder)
  file(WRITE ${folder}/inputs "${crochet_inputs}")
endmacro()
