# crochet_test(<file>.cpp|.cu [LINK <target>...] [LABELS <label>...] [OPTIONS <compiler option>...]
#              [INSTRUCTIONS <sandybridge|haswell|x86-64-v4|cooperlake>...] [LONG] [THREADS] [ALONE])
# A test of one file. It is skipped if a target that it links does not exist (for example CUDA). Without LABELS it is a
# `unit` test, which also runs under the sanitizers. With OPTIONS other than -D, and those of the common header, it is
# compiled without that.
# INSTRUCTIONS: it is compiled and run once more for each of these instruction sets (see instructions.cmake).
# LONG: compiles for twenty seconds or more; the tests have the label `long`, and CROCHET_LONG_TESTS=OFF skips them, and
# INSTRUCTIONS.
# The target crochet_unit_tests builds all tests with the label `unit`; the presets gnu and those with sanitizers use it.
# THREADS: it tests objects that threads share. The target crochet_thread_tests builds these tests, `ctest -L threads`
# runs them; the preset tsan does both under ThreadSanitizer.
# ALONE: it replaces functions of its whole program (operator new, read), or defines macros, so it is never batched.
#
# With CROCHET_TEST_BATCH=1 each file is a program, named after its path. Otherwise the files of a folder that have the
# same options are one program, and up to so many of them are compiled as one translation unit, which parses the headers
# and instantiates common templates once. So each file has a namespace of its own, named after it.
set(CROCHET_TEST_BATCH 1 CACHE STRING "Test files compiled together; a test that compiles a model counts as three")
add_custom_target(crochet_thread_tests)
add_custom_target(crochet_unit_tests)
add_custom_target(crochet_gpu_tests)

# Under sanitizers g++ takes three times as long for a model as for its types alone. Sessions of whole models outside the
# folders of executor, graph and kernels go through the same executor as the tests in these folders.
option(CROCHET_RUN_MODELS "Run tests that link crochet::cpu; OFF: g++ only checks those that are no tests of the executor" ON)
mark_as_advanced(CROCHET_RUN_MODELS)

# crochet_only_checked(<result> <what a test links>...): whether a test of this folder is not run.
function(crochet_only_checked result)
  set(${result} OFF PARENT_SCOPE)
  if(NOT CROCHET_RUN_MODELS AND ARGN MATCHES "crochet::(cpu|software_device)"
     AND NOT CMAKE_CURRENT_SOURCE_DIR MATCHES "/tests/(base|checkpoint|cuda|executor|graph|kernels)(/|$)")
    set(${result} ON PARENT_SCOPE)
  endif()
endfunction()

# crochet_check_only(<name> SOURCES <file>... LINK <target>...): the compiler's front end for these files, without a program.
function(crochet_check_only name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK")
  add_library(${name} OBJECT EXCLUDE_FROM_ALL ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE crochet::core ${arg_LINK} crochet_own_code GTest::gtest_main)
  target_compile_options(${name} PRIVATE -fsyntax-only)
  crochet_common_header(${name} ${arg_LINK})
  add_dependencies(crochet_unit_tests ${name})
endfunction()

# crochet_test_program(<name> <prefix of its tests> SOURCES <file>... [LINK ...] [LABELS ...] [OPTIONS ...] [THREADS])
function(crochet_test_program name prefix)
  cmake_parse_arguments(PARSE_ARGV 2 arg "THREADS" "" "SOURCES;LINK;LABELS;OPTIONS")
  crochet_only_checked(only_checked ${arg_LINK})
  if(only_checked)
    if(NOT arg_OPTIONS AND "unit" IN_LIST arg_LABELS)
      crochet_check_only(${name} SOURCES ${arg_SOURCES} LINK ${arg_LINK})
    endif()
    return()
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE crochet::core ${arg_LINK} crochet_own_code crochet_test_oracle GTest::gtest_main)
  target_compile_options(${name} PRIVATE ${arg_OPTIONS})
  list(FILTER arg_OPTIONS EXCLUDE REGEX "^-D")
  list(REMOVE_ITEM arg_OPTIONS "" ${CROCHET_MODEL_TEST_OPTIONS})
  if(NOT arg_SOURCES MATCHES "\\.cu$" AND NOT arg_OPTIONS)
    crochet_common_header(${name} ${arg_LINK})
  endif()
  if(arg_THREADS)
    list(APPEND arg_LABELS threads)
    add_dependencies(crochet_thread_tests ${name})
  endif()
  if("unit" IN_LIST arg_LABELS)
    add_dependencies(crochet_unit_tests ${name})
  endif()
  if("gpu" IN_LIST arg_LABELS)
    add_dependencies(crochet_gpu_tests ${name})
  endif()
  list(JOIN arg_LABELS "," labels) # gtest_discover_tests keeps only the first of a list; `ctest -L` matches within one label
  # PRE_TEST: a program that crashes at its start then fails as a test, not in the build.
  set(properties LABELS ${labels})
  if("crochet::software_device" IN_LIST arg_LINK)
    # AddressSanitizer takes the stacks of fibers for one, and would free frames of functions that still run.
    list(APPEND properties ENVIRONMENT
      ASAN_OPTIONS=detect_stack_use_after_return=0:handle_sigill=1:suppressions=${PROJECT_SOURCE_DIR}/tests/asan.supp)
  endif()
  gtest_discover_tests(${name} TEST_PREFIX ${prefix}. DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 120
    PROPERTIES ${properties})
endfunction()

function(crochet_test file)
  cmake_parse_arguments(PARSE_ARGV 1 arg "LONG;THREADS;ALONE" "" "LINK;LABELS;OPTIONS;INSTRUCTIONS")
  cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY ${PROJECT_SOURCE_DIR}/tests OUTPUT_VARIABLE folder)
  cmake_path(APPEND folder ${file} OUTPUT_VARIABLE path)
  cmake_path(REMOVE_EXTENSION path)
  string(MAKE_C_IDENTIFIER ${path} name)
  string(REPLACE "/" "." prefix ${path})
  if(NOT CROCHET_LONG_TESTS)
    if(arg_LONG)
      return()
    endif()
    set(arg_INSTRUCTIONS)
  endif()
  crochet_available(available "test ${path}" ${arg_LINK})
  if(NOT available)
    return()
  endif()
  if(NOT arg_LABELS)
    set(arg_LABELS unit)
  endif()
  if(arg_LONG)
    list(APPEND arg_LABELS long)
  endif()
  set(options LINK ${arg_LINK} LABELS ${arg_LABELS})
  if(arg_THREADS)
    list(APPEND options THREADS)
  endif()
  if(CROCHET_TEST_BATCH GREATER 1 AND file MATCHES "\\.cpp$" AND NOT arg_OPTIONS AND NOT arg_ALONE)
    crochet_add_to_batch(${file} ${options})
  else()
    crochet_test_program(${name} ${prefix} SOURCES ${file} ${options} OPTIONS ${arg_OPTIONS})
  endif()
  foreach(set IN LISTS arg_INSTRUCTIONS)
    crochet_test_with_instructions(${name} ${file} ${prefix} ${set} "${arg_LINK}")
  endforeach()
endfunction()

# crochet_add_to_batch(<file> <option>...): files with the same options go into one program of the folder.
function(crochet_add_to_batch file)
  string(MAKE_C_IDENTIFIER "${ARGN}" key)
  get_property(keys DIRECTORY PROPERTY crochet_batches)
  if(NOT keys)
    cmake_language(DEFER CALL crochet_batches)
  endif()
  if(NOT key IN_LIST keys)
    set_property(DIRECTORY APPEND PROPERTY crochet_batches ${key})
    set_property(DIRECTORY PROPERTY crochet_options_${key} "${ARGN}")
  endif()
  set_property(DIRECTORY APPEND PROPERTY crochet_files_${key} ${file})
endfunction()

# The programs of a folder, at the end of its CMakeLists.txt.
function(crochet_batches)
  cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY ${PROJECT_SOURCE_DIR}/tests OUTPUT_VARIABLE folder)
  string(MAKE_C_IDENTIFIER ${folder} name)
  string(REPLACE "/" "." prefix ${folder})
  get_property(keys DIRECTORY PROPERTY crochet_batches)
  set(number 0)
  foreach(key IN LISTS keys)
    math(EXPR number "${number} + 1")
    get_property(files DIRECTORY PROPERTY crochet_files_${key})
    get_property(options DIRECTORY PROPERTY crochet_options_${key})
    set(size ${CROCHET_TEST_BATCH})
    if("crochet::cpu" IN_LIST options)
      math(EXPR size "(${size} + 2) / 3")
    endif()
    crochet_test_program(${name}_tests_${number} ${prefix} SOURCES ${files} ${options})
    if(TARGET ${name}_tests_${number})
      set_target_properties(${name}_tests_${number} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${size})
    endif()
  endforeach()
endfunction()

# crochet_tests_on_devices(<file>... [LINK <target>...] [LONG <file>...] [NOT_ON_GPU <file>...]): the tests of these files
# once more, on the CUDA executor (executor/device_under_test.hpp): on a device in software, which runs the threads of its
# kernels in three orders, and with CROCHET_GPU on the GPU. LONG: further files, whose tests in software have the label
# `long`. NOT_ON_GPU: those of the files whose models do not compile for a GPU.
function(crochet_tests_on_devices)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "LINK;LONG;NOT_ON_GPU")
  if(CROCHET_SOFTWARE_DEVICE_TESTS)
    crochet_tests_on(software_device unit "${arg_UNPARSED_ARGUMENTS}" ${arg_LINK})
    if(CROCHET_LONG_TESTS AND arg_LONG)
      crochet_tests_on(software_device "unit;long" "${arg_LONG}" ${arg_LINK})
    endif()
  endif()
  list(APPEND arg_UNPARSED_ARGUMENTS ${arg_LONG})
  list(REMOVE_ITEM arg_UNPARSED_ARGUMENTS ${arg_NOT_ON_GPU})
  crochet_tests_on_gpu(${arg_UNPARSED_ARGUMENTS} LINK ${arg_LINK})
endfunction()

# crochet_tests_on_gpu(<file>... [LINK <target>...]): with CROCHET_GPU these files on the GPU; label `gpu`. The target
# crochet_gpu_tests builds them.
function(crochet_tests_on_gpu)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "LINK")
  if(CROCHET_GPU)
    crochet_tests_on(gpu gpu "${arg_UNPARSED_ARGUMENTS}" ${arg_LINK})
  endif()
endfunction()

# crochet_tests_on(<software_device|gpu> <labels> <files> <target>...)
function(crochet_tests_on device labels files)
  if(NOT files)
    return()
  endif()
  cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY ${PROJECT_SOURCE_DIR}/tests OUTPUT_VARIABLE folder)
  string(MAKE_C_IDENTIFIER ${folder} folder_name)
  string(REPLACE "/" "." prefix ${folder})
  crochet_available(available "tests of ${folder} on the ${device}" crochet::${device} ${ARGN})
  if(NOT available)
    return()
  endif()
  if(CROCHET_TEST_BATCH GREATER 1)
    set(program ${folder_name}_on_${device})
    if("long" IN_LIST labels)
      string(APPEND program _long)
    endif()
    crochet_test_program(${program} ${prefix}.on_${device} SOURCES ${files} LINK crochet::${device} ${ARGN}
      LABELS ${labels})
    set_target_properties(${program} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 6)
    return()
  endif()
  foreach(file IN LISTS files)
    cmake_path(REMOVE_EXTENSION file OUTPUT_VARIABLE name)
    crochet_test_program(${folder_name}_${name}_on_${device} ${prefix}.on_${device}.${name} SOURCES ${file}
      LINK crochet::${device} ${ARGN} LABELS ${labels})
  endforeach()
endfunction()
