# cmake -DHEADER=<.grpc.pb.h> -DSOURCE=<.grpc.pb.cc> -P crochet-service-name.cmake
# The messages are in a package of our own, so that they do not collide with TensorFlow's. The service keeps TensorFlow's
# name on the wire, which gRPC's plug-in takes from the package: this puts it into the generated code.
foreach(file IN ITEMS ${HEADER} ${SOURCE})
  file(READ ${file} text)
  string(REPLACE "crochet.proto.EventListener" "tensorflow.EventListener" renamed "${text}")
  if(renamed STREQUAL text)
    message(FATAL_ERROR "${file}: the name of the service was not found in the code that gRPC's plug-in generated")
  endif()
  file(WRITE ${file} "${renamed}")
endforeach()
