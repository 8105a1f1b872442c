# Eigen3::Eigen without Eigen, for machines that do not have it: bench/gpu.sh builds nothing that includes its headers
# (only EigenCpu does).
if(NOT TARGET Eigen3::Eigen)
  add_library(Eigen3::Eigen INTERFACE IMPORTED)
endif()
