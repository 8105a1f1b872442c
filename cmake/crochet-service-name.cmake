# cmake -DHEADER=<.grpc.pb.h> -DSOURCE=<.grpc.pb.cc> -P crochet-service-name.cmake
# The messages have a package of their own, so that they do not collide with TensorFlow's. The service must keep
# TensorFlow's name on the wire, but gRPC's plug-in derives it from the package: this script replaces it in the
# generated code.
foreach(file IN ITEMS ${HEADER} ${SOURCE})
  file(READ ${file} text)
  string(REPLACE "crochet.proto.EventListener" "tensorflow.EventListener" renamed "${text}")
  if(renamed STREQUAL text)
    message(FATAL_ERROR "${file}: the name of the service was not found in the code that gRPC's plug-in generated")
  endif()
  file(WRITE ${file} "${renamed}")
endforeach()
