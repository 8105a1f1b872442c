# How this project's own tests, examples and benchmarks are compiled. None of this affects users of the library.

# ccache, if it is installed. Without the sloppiness it does not cache uses of a precompiled header; without the base
# directory and the other setting a clone at another path has no hits.
if(PROJECT_IS_TOP_LEVEL AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(CROCHET_CCACHE ccache)
  mark_as_advanced(CROCHET_CCACHE)
  if(CROCHET_CCACHE)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros
      CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${CROCHET_CCACHE})
  endif()
endif()

# The first of these linkers that is there links the tests: mold in a fifth of the time of the standard one, gold in half.
# Only for tests: other programs are linked as a user's.
if(PROJECT_IS_TOP_LEVEL AND CMAKE_BUILD_TYPE STREQUAL "Debug" AND
   NOT (CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_FLAGS MATCHES "-fsanitize"))
  include(CheckLinkerFlag)
  foreach(linker IN ITEMS mold lld gold)
    check_linker_flag(CXX -fuse-ld=${linker} CROCHET_HAS_${linker})
    if(CROCHET_HAS_${linker})
      add_link_options(-fuse-ld=${linker})
      break()
    endif()
  endforeach()
endif()

set(CMAKE_CXX_EXTENSIONS OFF) # -std=c++20 and not gnu++20

# Every program of this project links this; no target of the library does.
add_library(crochet_own_code INTERFACE)
target_compile_options(crochet_own_code INTERFACE
  $<$<COMPILE_LANG_AND_ID:CXX,GNU,Clang,AppleClang>:-Wall;-Wextra;-Wconversion;$<$<BOOL:${CROCHET_WERROR}>:-Werror>>
  $<$<AND:$<BOOL:${CROCHET_NATIVE}>,$<COMPILE_LANG_AND_ID:CXX,GNU,Clang,AppleClang>>:-march=native>
  # clang's time stamp in a precompiled header would make ccache miss every use of it.
  "$<$<COMPILE_LANG_AND_ID:CXX,Clang>:SHELL:-Xclang -fno-pch-timestamp>")

# crochet_subdirectories(): adds each folder below this one that has a CMakeLists.txt.
function(crochet_subdirectories)
  file(GLOB lists CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*/CMakeLists.txt)
  foreach(list IN LISTS lists)
    cmake_path(GET list PARENT_PATH folder)
    add_subdirectory(${folder})
  endforeach()
endfunction()

# crochet_available(<result> <program> <target>...): whether a program that links these targets can be built; prints a
# message if not.
function(crochet_available result program)
  set(${result} ON PARENT_SCOPE)
  foreach(target IN LISTS ARGN)
    if(target MATCHES "::" AND NOT TARGET ${target})
      message(STATUS "crochet: ${program} is left out, there is no ${target} here")
      set(${result} OFF PARENT_SCOPE)
    endif()
  endforeach()
endfunction()
