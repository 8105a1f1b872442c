# cmake -D root=DIR -P check_includes.cmake: each header under DIR/include/crochet and DIR/kernels includes only what its
# layer may. A layer is a folder; `base` are the headers that lie in include/crochet itself and gather nothing.
cmake_minimum_required(VERSION 3.25)
set(base "(config|name|tensor_view|error|message|standard_error|needs_[a-z]+)\\.hpp")

# What each layer may include of ours, besides base and itself ...
set(hook "")
set(session hook)
set(graph "")
set(kernels graph)
set(executor graph session hook kernels)
set(io graph)
set(debug hook graph io) # what is published of a debugged run, in files and on streams
set(trace hook graph io) # what runs took: timelines, tables
set(checkpoint hook session io)
set(hooks hook io debug trace)
set(data io)
set(hana hook hooks) # chains and members of hooks as Boost.Hana sees them
set(testing hook session graph executor kernels io)
set(layers hook session graph kernels executor io debug trace checkpoint hooks data hana testing)

# ... and of others, besides the standard library: libraries, processors' intrinsics, the operating system.
set(session_others "pthread\\.h") # a mutex, without what <mutex> costs to read
set(kernels_others "Eigen/|pthread\\.h|[a-z0-9]*intrin\\.h|arm_neon\\.h")
set(executor_others "Eigen/|pthread\\.h|sched\\.h|[a-z0-9]*intrin\\.h|crochet/model\\.hpp") # which gathers the graph
set(io_others "dirent\\.h|pthread\\.h|zlib\\.h|fcntl\\.h|unistd\\.h|sys/|crochet/proto/|google/protobuf/|leveldb/|isa-l/|nlohmann/|png\\.h")
set(hana_others "boost/hana/|nlohmann/|CLI/")
set(data_others "zlib\\.h")
set(debug_others "cxxabi\\.h|execinfo\\.h|pthread\\.h|unistd\\.h|pwd\\.h|fcntl\\.h|sys/|crochet/proto/|google/protobuf/|nlohmann/|grpc/|grpcpp/|openssl/")
set(trace_others "crochet/proto/|google/protobuf/|nlohmann/")
set(hooks_others "unistd\\.h|sys/ioctl\\.h|" # is this a terminal, and how wide
  "crochet/graph/probe\\.hpp|" # what a hook's probe is shown
  "crochet/session/side_session\\.hpp|" # an evaluator drives a session of its own
  "crochet/session/signal_flag\\.hpp") # the coordinator looks at what a signal handler sets
list(JOIN hooks_others "" hooks_others)

set(complaints "")

function(check_header file layer)
  file(STRINGS ${file} includes REGEX "^ *# *include +[<\"]")
  foreach(line IN LISTS includes)
    string(REGEX REPLACE "^ *# *include +([<\"])([^>\"]+).*" "\\1;\\2" parts "${line}")
    list(POP_FRONT parts bracket included)
    if(bracket STREQUAL "\"") # next to the header itself
      cmake_path(GET file PARENT_PATH folder)
      cmake_path(ABSOLUTE_PATH included BASE_DIRECTORY ${folder} NORMALIZE)
      string(REGEX REPLACE "^${root}/(include/)?" "" included "${included}")
      string(REGEX REPLACE "^kernels/" "crochet/kernels/" included "${included}")
    endif()
    list(TRANSFORM ${layer} PREPEND "crochet/" OUTPUT_VARIABLE allowed)
    list(JOIN allowed "/|" allowed)
    if(included MATCHES "^crochet/${base}$" OR included MATCHES "^crochet/${layer}/")
      continue()
    elseif(allowed AND included MATCHES "^(${allowed}/)")
      continue()
    elseif(included MATCHES "^[a-z_]+$")
      continue() # the standard library's headers have neither a folder nor an extension
    elseif(DEFINED ${layer}_others AND included MATCHES "^(${${layer}_others})")
      continue()
    elseif(file MATCHES "cuda")
      continue() # the CUDA headers are checked by having a component of their own
    endif()
    string(REPLACE "${root}/" "" name ${file})
    list(APPEND complaints "${name} includes ${included}")
  endforeach()
  set(complaints "${complaints}" PARENT_SCOPE)
endfunction()

set(checked 0)
foreach(layer IN LISTS layers)
  set(folder ${root}/include/crochet/${layer})
  if(layer STREQUAL "kernels")
    set(folder ${root}/kernels)
  endif()
  file(GLOB_RECURSE headers ${folder}/*.hpp ${folder}/*.cuh)
  foreach(header IN LISTS headers)
    check_header(${header} ${layer})
    math(EXPR checked "${checked} + 1")
  endforeach()
endforeach()

foreach(complaint IN LISTS complaints)
  message("${complaint}: not allowed from there")
endforeach()
if(complaints OR checked EQUAL 0)
  message(FATAL_ERROR "Dependencies point one way; docs/architecture.md has the map. (${checked} headers checked.)")
endif()
message(STATUS "${checked} headers include what they may")
