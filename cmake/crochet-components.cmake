# The components and the dependencies of each. The build includes this file, and crochetConfig.cmake includes its
# installed copy, so find_package, FetchContent, add_subdirectory and Conan share it.
#
# Deliberately without version numbers: `find_package(Eigen3 3.3)` rejects a package manager's Eigen 5 and would
# silently use the system's.

set(crochet_components core hana cpu data io debug cuda)
set(crochet_core_needs "") # the standard library
set(crochet_hana_needs Boost::headers)
set(crochet_cpu_needs Eigen3::Eigen Threads::Threads)
set(crochet_data_needs ZLIB::ZLIB)
set(crochet_io_needs protobuf::libprotobuf leveldb::leveldb isa-l::isa-l nlohmann_json::nlohmann_json PNG::PNG)
set(crochet_io_tools protobuf::protoc)
set(crochet_debug_needs gRPC::grpc++ OpenSSL::Crypto)
set(crochet_debug_tools gRPC::grpc_cpp_plugin)
set(crochet_debug_parts io) # other components that it includes
set(crochet_cuda_needs CUDA::cudart)

# Searches the dependencies of a component. Sets `missing` to the targets that are not found; empty on success.
function(crochet_find_dependencies component missing)
  if(component STREQUAL "hana")
    find_package(Boost CONFIG QUIET) # first by config: newer versions of CMake have no FindBoost
    if(NOT TARGET Boost::headers)
      find_package(Boost QUIET)
    endif()
  elseif(component STREQUAL "cpu")
    find_package(Eigen3 CONFIG QUIET)
    find_package(Threads QUIET)
  elseif(component STREQUAL "data")
    find_package(ZLIB QUIET)
  elseif(component STREQUAL "io")
    find_package(protobuf CONFIG QUIET) # Debian and Ubuntu have no config file, only CMake's FindProtobuf works there
    if(NOT TARGET protobuf::libprotobuf)
      find_package(Protobuf MODULE QUIET)
    endif()
    crochet_find_leveldb()
    find_package(nlohmann_json CONFIG QUIET)
    find_package(PNG QUIET)
    crochet_find_isal()
  elseif(component STREQUAL "debug")
    crochet_find_grpc()
    find_package(OpenSSL QUIET)
  elseif(component STREQUAL "cuda")
    find_package(CUDAToolkit QUIET)
  endif()
  set(absent "")
  foreach(target IN LISTS crochet_${component}_needs crochet_${component}_tools)
    if(NOT TARGET ${target})
      list(APPEND absent ${target})
    endif()
  endforeach()
  foreach(part IN LISTS crochet_${component}_parts)
    crochet_find_dependencies(${part} absent_there)
    list(APPEND absent ${absent_there})
  endforeach()
  set(${missing} "${absent}" PARENT_SCOPE)
endfunction()

# Debian's leveldb refers to snappy without depending on its development package. Its shared library loads snappy
# itself, so programs need not link it.
function(crochet_find_leveldb)
  find_package(leveldb CONFIG QUIET)
  if(TARGET leveldb::leveldb)
    get_target_property(kind leveldb::leveldb TYPE)
    get_target_property(links leveldb::leveldb INTERFACE_LINK_LIBRARIES)
    if(kind STREQUAL "SHARED_LIBRARY" AND "snappy" IN_LIST links)
      list(REMOVE_ITEM links snappy)
      set_target_properties(leveldb::leveldb PROPERTIES INTERFACE_LINK_LIBRARIES "${links}")
    endif()
    find_package(Threads QUIET)
  endif()
endfunction()

# ISA-L has no CMake file, except from Conan.
function(crochet_find_isal)
  find_package(isa-l CONFIG QUIET)
  if(TARGET isa-l::isa-l)
    return()
  endif()
  find_path(CROCHET_ISAL_INCLUDE isa-l/crc.h)
  find_library(CROCHET_ISAL_LIBRARY isal)
  mark_as_advanced(CROCHET_ISAL_INCLUDE CROCHET_ISAL_LIBRARY)
  if(CROCHET_ISAL_INCLUDE AND CROCHET_ISAL_LIBRARY)
    add_library(isa-l::isa-l UNKNOWN IMPORTED)
    set_target_properties(isa-l::isa-l PROPERTIES IMPORTED_LOCATION ${CROCHET_ISAL_LIBRARY}
      INTERFACE_INCLUDE_DIRECTORIES ${CROCHET_ISAL_INCLUDE})
  endif()
endfunction()

# By config file; that fails if a package named in it is not installed. Then by pkg-config.
function(crochet_find_grpc)
  find_package(gRPC CONFIG QUIET)
  if(NOT TARGET gRPC::grpc++)
    find_package(PkgConfig QUIET)
    if(PkgConfig_FOUND)
      pkg_check_modules(CROCHET_GRPC QUIET IMPORTED_TARGET grpc++)
    endif()
    if(TARGET PkgConfig::CROCHET_GRPC)
      add_library(gRPC::grpc++ INTERFACE IMPORTED)
      target_link_libraries(gRPC::grpc++ INTERFACE PkgConfig::CROCHET_GRPC)
    endif()
  endif()
  if(NOT TARGET gRPC::grpc_cpp_plugin)
    find_program(CROCHET_GRPC_PLUGIN grpc_cpp_plugin)
    mark_as_advanced(CROCHET_GRPC_PLUGIN)
    if(CROCHET_GRPC_PLUGIN)
      add_executable(gRPC::grpc_cpp_plugin IMPORTED)
      set_target_properties(gRPC::grpc_cpp_plugin PROPERTIES IMPORTED_LOCATION ${CROCHET_GRPC_PLUGIN})
    endif()
  endif()
endfunction()

# The messages that crochet::io writes and reads, as C++: <crochet/proto/*.pb.h>. Generated code must match the protobuf
# that it is compiled with, so that version's protoc generates it in the project that uses it. (CMake's
# protobuf_generate uses another output folder for files outside the source directory.) A user's warnings do not apply
# to it.
function(crochet_add_proto proto_dir)
  if(TARGET crochet_proto)
    return()
  endif()
  set(out ${CMAKE_CURRENT_BINARY_DIR}/crochet-proto)
  file(MAKE_DIRECTORY ${out})
  foreach(name IN ITEMS tensor graph event checkpoint tfprof debug step_stats perfetto)
    list(APPEND protos crochet/proto/${name}.proto)
    list(APPEND files ${proto_dir}/crochet/proto/${name}.proto)
    list(APPEND sources ${out}/crochet/proto/${name}.pb.cc)
    list(APPEND headers ${out}/crochet/proto/${name}.pb.h)
  endforeach()
  add_custom_command(OUTPUT ${sources} ${headers} DEPENDS ${files} VERBATIM
    COMMAND protobuf::protoc --proto_path=${proto_dir} --cpp_out=${out} ${protos})
  add_library(crochet_proto STATIC EXCLUDE_FROM_ALL ${sources})
  set_target_properties(crochet_proto PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_compile_features(crochet_proto PUBLIC cxx_std_17)
  target_compile_options(crochet_proto PRIVATE $<$<CXX_COMPILER_ID:GNU,Clang,AppleClang>:-w>)
  crochet_cold_code(crochet_proto)
  target_include_directories(crochet_proto SYSTEM PUBLIC ${out})
  target_link_libraries(crochet_proto PUBLIC protobuf::libprotobuf)
endfunction()

# The compiled half of crochet::io: what is no template, compiled once in the project that uses it, since it has to fit
# that project's compiler, flags and protobuf. With CROCHET_HEADER_ONLY it stays in the headers instead.
function(crochet_add_io proto_dir source_dir)
  crochet_add_proto(${proto_dir})
  if(TARGET crochet_io_compiled)
    return()
  endif()
  if(CROCHET_HEADER_ONLY)
    add_library(crochet_io_compiled INTERFACE)
    target_compile_definitions(crochet_io_compiled INTERFACE CROCHET_HEADER_ONLY)
    target_link_libraries(crochet_io_compiled INTERFACE crochet_proto ${crochet_io_needs})
    return()
  endif()
  add_library(crochet_io_compiled STATIC EXCLUDE_FROM_ALL ${source_dir}/io.cpp ${source_dir}/trace.cpp
    ${source_dir}/debug.cpp)
  set_target_properties(crochet_io_compiled PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_link_libraries(crochet_io_compiled PUBLIC crochet::core crochet_proto ${crochet_io_needs})
  crochet_compiled_warnings(crochet_io_compiled)
  crochet_cold_code(crochet_io_compiled)
endfunction()

# What is compiled once waits for files: -O1 in place of a user's -O3 saves a quarter of its compile time.
function(crochet_cold_code target)
  target_compile_options(${target} PRIVATE
    $<$<AND:$<CXX_COMPILER_ID:GNU,Clang,AppleClang>,$<CONFIG:Release,RelWithDebInfo,MinSizeRel>>:-O1>)
endfunction()

# A user's warnings do not apply to compiled halves; this project's own do.
function(crochet_compiled_warnings target)
  if(TARGET crochet_own_code AND PROJECT_IS_TOP_LEVEL)
    target_link_libraries(${target} PRIVATE crochet_own_code)
  else()
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU,Clang,AppleClang>:-w>)
  endif()
endfunction()

# The service of crochet::debug, <crochet/proto/debug_service.grpc.pb.h>: a separate library, so that crochet::io needs
# no gRPC.
function(crochet_add_debug_service proto_dir)
  crochet_add_proto(${proto_dir})
  if(TARGET crochet_debug_service)
    return()
  endif()
  set(out ${CMAKE_CURRENT_BINARY_DIR}/crochet-debug-service)
  set(proto crochet/proto/debug_service)
  file(MAKE_DIRECTORY ${out})
  set(rename ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/crochet-service-name.cmake)
  add_custom_command(VERBATIM DEPENDS ${proto_dir}/${proto}.proto ${rename}
    OUTPUT ${out}/${proto}.pb.cc ${out}/${proto}.grpc.pb.cc ${out}/${proto}.pb.h ${out}/${proto}.grpc.pb.h
    COMMAND protobuf::protoc --proto_path=${proto_dir} --cpp_out=${out} --grpc_out=${out}
      --plugin=protoc-gen-grpc=$<TARGET_FILE:gRPC::grpc_cpp_plugin> ${proto}.proto
    COMMAND ${CMAKE_COMMAND} -DHEADER=${out}/${proto}.grpc.pb.h -DSOURCE=${out}/${proto}.grpc.pb.cc -P ${rename})
  add_library(crochet_debug_service STATIC EXCLUDE_FROM_ALL ${out}/${proto}.pb.cc ${out}/${proto}.grpc.pb.cc)
  set_target_properties(crochet_debug_service PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_compile_features(crochet_debug_service PUBLIC cxx_std_17)
  target_compile_options(crochet_debug_service PRIVATE $<$<CXX_COMPILER_ID:GNU,Clang,AppleClang>:-w>)
  crochet_cold_code(crochet_debug_service)
  target_include_directories(crochet_debug_service SYSTEM PUBLIC ${out})
  target_link_libraries(crochet_debug_service PUBLIC crochet_proto gRPC::grpc++)
endfunction()

# The compiled half of crochet::debug: the client of debug servers, with gRPC.
function(crochet_add_debug proto_dir source_dir)
  crochet_add_io(${proto_dir} ${source_dir})
  crochet_add_debug_service(${proto_dir})
  if(TARGET crochet_debug_compiled)
    return()
  endif()
  if(CROCHET_HEADER_ONLY)
    add_library(crochet_debug_compiled INTERFACE)
    target_link_libraries(crochet_debug_compiled INTERFACE crochet_io_compiled crochet_debug_service)
    return()
  endif()
  add_library(crochet_debug_compiled STATIC EXCLUDE_FROM_ALL ${source_dir}/debug_stream.cpp)
  set_target_properties(crochet_debug_compiled PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_link_libraries(crochet_debug_compiled PUBLIC crochet_io_compiled crochet_debug_service ${crochet_debug_needs})
  crochet_compiled_warnings(crochet_debug_compiled)
  crochet_cold_code(crochet_debug_compiled)
endfunction()
