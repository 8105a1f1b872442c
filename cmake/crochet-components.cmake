# The components and what each needs from elsewhere. The build includes this file, and crochetConfig.cmake includes its
# installed copy: the same truth for find_package, FetchContent, add_subdirectory and Conan.
#
# There are no version numbers on purpose. A package manager's Eigen 5 does not satisfy `find_package(Eigen3 3.3)`, so
# that call would pass over it and quietly take the system's.

set(crochet_components core cpu data cuda)
set(crochet_core_needs Boost::headers)
set(crochet_cpu_needs Eigen3::Eigen Threads::Threads)
set(crochet_data_needs ZLIB::ZLIB)
set(crochet_cuda_needs CUDA::cudart)

# Looks for what a component needs. Sets `missing` to the targets that nobody here provides: empty when all is well.
function(crochet_find_dependencies component missing)
  if(component STREQUAL "core")
    find_package(Boost CONFIG QUIET) # first by config: newer versions of CMake have no FindBoost
    if(NOT TARGET Boost::headers)
      find_package(Boost QUIET)
    endif()
  elseif(component STREQUAL "cpu")
    find_package(Eigen3 CONFIG QUIET)
    find_package(Threads QUIET)
  elseif(component STREQUAL "data")
    find_package(ZLIB QUIET)
  elseif(component STREQUAL "cuda")
    find_package(CUDAToolkit QUIET)
  endif()
  set(absent "")
  foreach(target IN LISTS crochet_${component}_needs)
    if(NOT TARGET ${target})
      list(APPEND absent ${target})
    endif()
  endforeach()
  set(${missing} "${absent}" PARENT_SCOPE)
endfunction()
