# The targets of the library: crochet_<component>, and crochet::<component> where it can be used.

# crochet_component(<name> IF <condition>)
# The target always exists, so that the installed package is the same for all options. The public name exists only if
# the component is enabled and its dependencies are found.
function(crochet_component name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "IF" "")
  add_library(crochet_${name} INTERFACE)
  set_target_properties(crochet_${name} PROPERTIES EXPORT_NAME ${name})
  target_compile_features(crochet_${name} INTERFACE cxx_std_20)
  if(NOT name STREQUAL "io") # its compiled half brings what it needs
    target_link_libraries(crochet_${name} INTERFACE ${crochet_${name}_needs})
  endif()
  if(name STREQUAL "core")
    crochet_core_usage()
  else()
    target_link_libraries(crochet_${name} INTERFACE crochet_core)
  endif()
  if(name STREQUAL "cuda")
    crochet_cuda_usage()
    target_link_libraries(crochet_cuda INTERFACE crochet_cpu
      $<BUILD_INTERFACE:crochet_cuda_compiled> $<INSTALL_INTERFACE:crochet::cuda_compiled>)
  elseif(name STREQUAL "images")
    target_link_libraries(crochet_images INTERFACE crochet_data)
  elseif(name STREQUAL "io")
    # No target here has this second name, so that the installed files keep it as a name: crochetConfig.cmake creates
    # it.
    target_link_libraries(crochet_io INTERFACE $<BUILD_INTERFACE:crochet_io_compiled>
      $<INSTALL_INTERFACE:crochet::io_compiled>)
  elseif(name STREQUAL "debug")
    target_link_libraries(crochet_debug INTERFACE crochet_io
      $<BUILD_INTERFACE:crochet_debug_compiled> $<INSTALL_INTERFACE:crochet::debug_compiled>)
  endif()
  if(arg_IF)
    crochet_publish(${name})
  endif()
endfunction()

function(crochet_core_usage)
  target_include_directories(crochet_core INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/kernels>)
  if(NOT PROJECT_IS_TOP_LEVEL)
    # SYSTEM: a project's warnings apply to its own code only, as with an installed crochet.
    set_target_properties(crochet_core PROPERTIES SYSTEM ON)
  endif()
endfunction()

# Kernels call constexpr functions of the standard library. CMake 3.25 does not support C++20 for nvcc: cxx_std_20 has no
# effect and cuda_std_20 is an error. If the user sets CUDA_STANDARD, no -std is added, because nvcc accepts only one.
function(crochet_cuda_usage)
  target_compile_options(crochet_cuda INTERFACE
    $<$<COMPILE_LANG_AND_ID:CUDA,NVIDIA>:--expt-relaxed-constexpr>
    $<$<AND:$<COMPILE_LANG_AND_ID:CUDA,NVIDIA>,$<STREQUAL:$<TARGET_PROPERTY:CUDA_STANDARD>,>>:-std=c++20>)
endfunction()

# Gives a component its public name. A missing dependency is an error with the fix in a build of crochet itself, and
# only a message in a project that includes crochet, which may not need that component. So is a missing MPI, which most
# machines lack.
function(crochet_publish name)
  crochet_find_dependencies(${name} missing)
  string(TOUPPER ${name} option)
  if(NOT missing)
    if(name STREQUAL "io")
      crochet_add_io(${PROJECT_SOURCE_DIR}/proto ${PROJECT_SOURCE_DIR}/src)
    elseif(name STREQUAL "debug")
      crochet_add_debug(${PROJECT_SOURCE_DIR}/proto ${PROJECT_SOURCE_DIR}/src)
    elseif(name STREQUAL "cuda")
      crochet_add_cuda(${PROJECT_SOURCE_DIR}/kernels ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
    endif()
    add_library(crochet::${name} ALIAS crochet_${name})
  elseif(name STREQUAL "core" OR PROJECT_IS_TOP_LEVEL AND NOT name STREQUAL "mpi")
    message(FATAL_ERROR "crochet::${name} needs ${missing}, which was not found. `sh cmake/provision.sh test` installs "
      "it on Debian and Ubuntu; -DCROCHET_WITH_${option}=OFF builds without this component (all but core).")
  else()
    message(STATUS "crochet: there is no crochet::${name} here, it needs ${missing}")
  endif()
endfunction()
