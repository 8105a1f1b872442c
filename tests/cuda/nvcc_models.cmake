# cmake -DNVCC= -DINCLUDES= -P nvcc_models.cmake: compiles the plans of nvcc_models.cu, in registers, without a warning.
cmake_minimum_required(VERSION 3.25)
list(TRANSFORM INCLUDES PREPEND "-isystem;")
execute_process(COMMAND ${NVCC} -std=c++20 --expt-relaxed-constexpr -arch=sm_90 ${INCLUDES} -Xptxas -v -cubin -o /dev/null
    ${CMAKE_CURRENT_LIST_DIR}/nvcc_models.cu
  OUTPUT_VARIABLE said ERROR_VARIABLE said RESULT_VARIABLE status)
string(REGEX MATCHALL "Compiling entry function '[^']*plan_kernel" kernels "${said}")
list(LENGTH kernels count)
if(NOT status EQUAL 0 OR NOT count EQUAL 2 OR said MATCHES "warning")
  message(FATAL_ERROR "${count} kernels instead of 2:\n${said}")
endif()
string(REGEX MATCHALL "[1-9][0-9]* bytes spill" spills "${said}")
if(spills OR NOT said MATCHES " 0 bytes spill stores, 0 bytes spill loads")
  message(FATAL_ERROR "registers are spilled:\n${said}")
endif()
