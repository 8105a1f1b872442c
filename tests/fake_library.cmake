# Libraries of NVIDIA's in software.

# crochet_fake_library(<target> <source> <name> [SOVERSION]): lib<name>.so in a folder of its own.
function(crochet_fake_library target source name)
  add_library(${target} SHARED EXCLUDE_FROM_ALL ${source})
  target_compile_features(${target} PRIVATE cxx_std_20)
  # Its parameters have types of their own.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:Clang>:-fno-sanitize=function>)
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name}
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/${target})
  if(ARGN)
    set_target_properties(${target} PROPERTIES SOVERSION ${ARGN})
  endif()
endfunction()

# crochet_finds_fake_library(<test> <target>): the test program finds this library before one of the system.
function(crochet_finds_fake_library test target)
  if(TARGET ${test})
    add_dependencies(${test} ${target})
    target_link_options(${test} PRIVATE -Wl,--disable-new-dtags) # also for libraries that a library loads
    set_target_properties(${test} PROPERTIES BUILD_RPATH ${CMAKE_CURRENT_BINARY_DIR}/${target})
  endif()
endfunction()
