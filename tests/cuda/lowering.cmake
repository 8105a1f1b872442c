# cmake -DNVCC= -DSOURCE= -DEXECUTOR= -DINCLUDES= -DFOLDER= -P lowering.cmake: compiles the kernels, checks their code,
# and runs the program. The code must contain the kernels, fuse multiply and add, and keep everything in registers.
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/unchanged.cmake)
crochet_unchanged(unchanged ${FOLDER} ${NVCC})
if(unchanged)
  execute_process(COMMAND ${FOLDER}/lowering COMMAND_ERROR_IS_FATAL ANY)
  return()
endif()
file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER})
list(TRANSFORM INCLUDES PREPEND -I)
# Warning 186: loops without iterations, over tables that are empty in some models.
execute_process(
  COMMAND ${NVCC} -std=c++20 -arch=sm_75 --expt-relaxed-constexpr -diag-suppress 186 -Xptxas -v --keep
    --keep-dir ${FOLDER} ${INCLUDES} -c ${SOURCE} -o ${FOLDER}/lowering.o
  WORKING_DIRECTORY ${FOLDER} OUTPUT_VARIABLE said ERROR_VARIABLE said RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "nvcc does not compile it:\n${said}")
endif()

string(REGEX MATCHALL "bytes stack frame[^\n]*" frames "${said}")
string(REGEX MATCHALL " 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads" clean "${said}")
list(LENGTH frames kernels)
list(LENGTH clean clean_kernels)
if(kernels LESS 4 OR NOT kernels EQUAL clean_kernels)
  message(FATAL_ERROR "of ${kernels} kernels ${clean_kernels} need neither stack nor spilled registers:\n${said}")
endif()

file(READ ${FOLDER}/lowering.ptx code)
foreach(wanted IN ITEMS "\\.entry [^\n]*loop_kernel" "\\.entry [^\n]*reduce_kernel" "\\.entry [^\n]*gather_kernel" "fma\\.rn\\.f32" "sqrt\\.rn\\.f32"
        "ld\\.global\\.f32" "st\\.global\\.f32")
  if(NOT code MATCHES "${wanted}")
    message(FATAL_ERROR "the kernels' code has no ${wanted}")
  endif()
endforeach()
if(code MATCHES "\n[ \t]*\\.local")
  message(FATAL_ERROR "the kernels keep something in local memory")
endif()

execute_process(COMMAND ${NVCC} ${FOLDER}/lowering.o ${EXECUTOR} -o ${FOLDER}/lowering COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${FOLDER}/lowering COMMAND_ERROR_IS_FATAL ANY)
message(STATUS "${kernels} kernels, all in registers")
crochet_remember(${FOLDER})
