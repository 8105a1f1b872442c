# CUDA is used if nvcc is found, for the parts in kernels/crochet/kernels/cuda. Everything else builds without it.
set(CROCHET_WITH_CUDA AUTO CACHE STRING "crochet::cuda, the graph executor on a GPU: ON, OFF, or AUTO (if nvcc is there)")
set_property(CACHE CROCHET_WITH_CUDA PROPERTY STRINGS AUTO ON OFF)

set(crochet_with_cuda ${CROCHET_WITH_CUDA})
if(NOT PROJECT_IS_TOP_LEVEL)
  if(crochet_with_cuda STREQUAL "AUTO") # in a project that includes crochet: only if it uses CUDA already
    set(crochet_with_cuda OFF)
    if(CMAKE_CUDA_COMPILER)
      set(crochet_with_cuda ON)
    endif()
  endif()
  return()
endif()

if(NOT EXISTS ${PROJECT_SOURCE_DIR}/kernels/crochet/kernels/cuda)
  set(crochet_with_cuda OFF)
endif()
if(crochet_with_cuda)
  find_program(CROCHET_NVCC nvcc PATHS /usr/local/cuda/bin) # searched again until it is found
  mark_as_advanced(CROCHET_NVCC)
endif()
if(crochet_with_cuda STREQUAL "ON" OR (crochet_with_cuda AND CROCHET_NVCC))
  # The architectures must be set before CMake checks the compiler: the GPU that this project is measured on, and PTX
  # that a driver translates for all others since Turing.
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 75-virtual 90-real)
  endif()
  if(NOT DEFINED CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
    set(CMAKE_CUDA_COMPILER ${CROCHET_NVCC})
  endif()
  enable_language(CUDA)
  set(crochet_with_cuda ON)
else()
  set(crochet_with_cuda OFF)
  message(STATUS "crochet: the CUDA parts are not built")
endif()
