# Eigen3::Eigen without Eigen, for machines that do not have it: bench/gpu.sh builds nothing that includes its headers
# (only EigenCpu does).
add_library(Eigen3::Eigen INTERFACE IMPORTED)
