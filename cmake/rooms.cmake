# The component of each folder: what a program must link to include its headers. A folder inherits from its parent
# folder. A header beside a folder of its name (executor/cpu.hpp) belongs to that folder's component. All other
# folders are crochet::core.
set(crochet_rooms
  hana hana
  executor/cpu cpu
  executor/plan cpu
  kernels/cpu cpu
  data data
  data/images images
  io io
  checkpoint io
  export io
  trace io
  debug io
  hooks/io io
  testing/io io
  debug/stream debug
  debug/server debug
  hooks/debug debug
  kernels/cuda cuda
  executor/cuda cuda
  hooks/cuda cuda
  ranks/mpi mpi
  ranks/nccl cuda
)

# crochet_component_of(<result> <header, as path below crochet/>)
function(crochet_component_of result header)
  cmake_path(REMOVE_EXTENSION header OUTPUT_VARIABLE path)
  set(component core)
  set(longest -1)
  set(rooms ${crochet_rooms})
  while(rooms)
    list(POP_FRONT rooms room candidate)
    string(LENGTH ${room} length)
    string(FIND "${path}/" "${room}/" at)
    if(at EQUAL 0 AND length GREATER longest)
      set(component ${candidate})
      set(longest ${length})
    endif()
  endwhile()
  set(${result} ${component} PARENT_SCOPE)
endfunction()
