# crochet_original_messages(): the library `crochet_original_messages`. It registers messages under the names of the
# original, as TensorFlow's C++ library does: package tensorflow, files tensorflow/core/*.proto, perfetto.protos and onnx.
# They are generated from crochet's messages, so each has a counterpart. With gRPC it also makes
# `crochet_original_service`.
function(crochet_original_messages)
  set(out ${PROJECT_BINARY_DIR}/original-messages)
  set(dir ${out}/tensorflow/core)
  file(GLOB protos CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/proto/crochet/proto/*.proto)
  foreach(proto IN LISTS protos)
    cmake_path(GET proto STEM name)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${proto})
    file(READ ${proto} text)
    string(REPLACE "package crochet.proto.perfetto;" "package perfetto.protos;" text "${text}")
    string(REPLACE "package crochet.proto.onnx;" "package onnx;" text "${text}")
    string(REPLACE "package crochet.proto" "package tensorflow" text "${text}")
    string(REPLACE "crochet/proto/" "tensorflow/core/" text "${text}")
    if(NOT text MATCHES "optimize_for") # faster to compile
      string(REGEX REPLACE "(package [a-z.]+;)" "\\1\noption optimize_for = CODE_SIZE;" text "${text}")
    endif()
    file(CONFIGURE OUTPUT ${dir}/${name}.proto CONTENT "${text}" @ONLY)
    if(NOT name STREQUAL "debug_service")
      list(APPEND files ${dir}/${name}.proto)
      list(APPEND sources ${dir}/${name}.pb.cc)
    endif()
  endforeach()
  add_custom_command(OUTPUT ${sources} DEPENDS ${files} VERBATIM
    COMMAND protobuf::protoc --proto_path=${out} --cpp_out=${out} ${files})
  add_library(crochet_original_messages OBJECT EXCLUDE_FROM_ALL ${sources})
  target_compile_features(crochet_original_messages PUBLIC cxx_std_17)
  target_compile_options(crochet_original_messages PRIVATE -w)
  target_include_directories(crochet_original_messages SYSTEM PUBLIC ${out})
  target_link_libraries(crochet_original_messages PUBLIC protobuf::libprotobuf)
  if(NOT TARGET crochet::debug)
    return()
  endif()
  set(service ${dir}/debug_service)
  add_custom_command(OUTPUT ${service}.pb.cc ${service}.grpc.pb.cc DEPENDS ${files} ${service}.proto VERBATIM
    COMMAND protobuf::protoc --proto_path=${out} --cpp_out=${out} --grpc_out=${out}
      --plugin=protoc-gen-grpc=$<TARGET_FILE:gRPC::grpc_cpp_plugin> ${service}.proto)
  add_library(crochet_original_service OBJECT EXCLUDE_FROM_ALL ${service}.pb.cc ${service}.grpc.pb.cc)
  target_compile_features(crochet_original_service PUBLIC cxx_std_17)
  target_compile_options(crochet_original_service PRIVATE -w)
  target_link_libraries(crochet_original_service PUBLIC crochet_original_messages gRPC::grpc++)
endfunction()
