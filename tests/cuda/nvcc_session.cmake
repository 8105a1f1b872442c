# cmake -DNVCC= -DFOLDER= -DINCLUDES= -DLIBRARY= -DFAKE_DRIVER= -P nvcc_session.cmake: compiles nvcc_session.cu, and checks the
# kernels of its plans and the program. Builds square_plus.cu, the program of docs/cuda.md, and runs it if there is a GPU.
# INCLUDES and LIBRARY: of crochet::cuda. FAKE_DRIVER: the folder of a libcuda that the CUDA runtime rejects.
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/unchanged.cmake)
set(source ${CMAKE_CURRENT_LIST_DIR})

function(run_session)
  execute_process(COMMAND ${FOLDER}/session OUTPUT_VARIABLE said ERROR_QUIET COMMAND_ERROR_IS_FATAL ANY)
  if(NOT said MATCHES "trained on |not trained: crochet: this machine has no NVIDIA driver|not trained: crochet: cannot [a-z ]+ on the GPU")
    message(FATAL_ERROR "it neither trains nor says what is missing: ${said}")
  endif()
  message(STATUS "${said}")
  if(said MATCHES "trained on ")
    execute_process(COMMAND ${FOLDER}/square_plus COMMAND_ERROR_IS_FATAL ANY)
  endif()
  execute_process(COMMAND ${CMAKE_COMMAND} -E env LD_LIBRARY_PATH=${FAKE_DRIVER} ${FOLDER}/session
    OUTPUT_VARIABLE said ERROR_QUIET COMMAND_ERROR_IS_FATAL ANY)
  if(NOT said MATCHES "not trained: crochet: cannot start the CUDA runtime on the GPU: [^\n]*\\(cudaError[A-Za-z]+\\)")
    message(FATAL_ERROR "an error of the CUDA runtime is not reported: ${said}")
  endif()
endfunction()

crochet_unchanged(unchanged ${FOLDER} ${NVCC})
if(unchanged)
  run_session()
  return()
endif()
file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER})
list(TRANSFORM INCLUDES PREPEND "-isystem;")
set(nvcc ${NVCC} -std=c++20 --expt-relaxed-constexpr -arch=sm_75 ${INCLUDES}) # as crochet::cuda sets them

execute_process(COMMAND ${nvcc} -Xptxas -v -c ${source}/nvcc_session.cu -o ${FOLDER}/session.o
  OUTPUT_VARIABLE said ERROR_VARIABLE said RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "nvcc does not compile it:\n${said}")
endif()
if(said MATCHES "warning")
  message(FATAL_ERROR "nvcc warns of a user's file:\n${said}")
endif()
# One kernel for each demand: with and without the loss.
string(REGEX MATCHALL "Compiling entry function '[^']*plan_kernel" kernels "${said}")
list(LENGTH kernels count)
if(NOT count EQUAL 2)
  message(FATAL_ERROR "${count} kernels instead of 2:\n${said}")
endif()
# The host's compiler computes the same numbers of plans as nvcc.
file(STRINGS ${FOLDER}/session.o names REGEX "plan_kernelILm[0-9]+E")
string(REGEX MATCHALL "plan_kernelILm[0-9]+E" numbers "${names}")
list(REMOVE_DUPLICATES numbers)
list(LENGTH numbers count)
if(NOT count EQUAL 2)
  message(FATAL_ERROR "the host's code has ${numbers}")
endif()
# Except for the block, 8 bytes, whose address functions that are not inlined take.
string(REGEX MATCHALL "[1-9][0-9]* bytes spill|([1-79]|[1-9][0-9]+) bytes stack frame" outside "${said}")
if(outside OR NOT said MATCHES " 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads")
  message(FATAL_ERROR "not everything is in registers:\n${said}")
endif()

execute_process(COMMAND ${NVCC} ${FOLDER}/session.o ${LIBRARY} -ldl -o ${FOLDER}/session COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${nvcc} ${source}/square_plus.cu ${LIBRARY} -ldl -o ${FOLDER}/square_plus COMMAND_ERROR_IS_FATAL ANY)
run_session()

execute_process(COMMAND ${nvcc} -ptx ${source}/host_functor.cu -o ${FOLDER}/host_functor.ptx
  OUTPUT_VARIABLE said ERROR_VARIABLE said RESULT_VARIABLE status)
if(status EQUAL 0 OR NOT said MATCHES "calling a __host__ function\\(\"[^\"]*apply[^\"]*\"\\) from a __device__ function\\(\"[^\"]*needs_CROCHET_HOST_DEVICE")
  message(FATAL_ERROR "a functor that is no device code is not rejected: ${said}")
endif()
crochet_remember(${FOLDER})
