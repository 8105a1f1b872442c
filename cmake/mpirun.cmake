# How this project's own tests and examples start programs of several ranks.

# crochet_is_open_mpi(<result> <mpirun>): whether this is the launcher of Open MPI. Ubuntu 26.04's has no text for its
# version, and prints the name of the missing file, help-schizo-ompi.txt.
function(crochet_is_open_mpi result mpirun)
  execute_process(COMMAND ${mpirun} --version OUTPUT_VARIABLE version ERROR_VARIABLE version)
  set(${result} OFF PARENT_SCOPE)
  if(version MATCHES "Open MPI|OpenRTE|ompi")
    set(${result} ON PARENT_SCOPE)
  endif()
endfunction()

# crochet_mpirun(<result> <mpirun> <ranks>): the command line before the program. Open MPI refuses more ranks than
# processors, and root, without these options, and its ranks wait without yielding to other load.
function(crochet_mpirun result mpirun ranks)
  crochet_is_open_mpi(open_mpi ${mpirun})
  set(options)
  if(open_mpi)
    set(options --oversubscribe --bind-to none --mca mpi_yield_when_idle 1)
  endif()
  set(${result} ${CMAKE_COMMAND} -E env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    ${mpirun} ${options} -n ${ranks} PARENT_SCOPE)
endfunction()

# crochet_mpi_test(<name> <mpirun> <ranks> <program and arguments>...): a test with the label `mpi`.
function(crochet_mpi_test name mpirun ranks)
  crochet_mpirun(command ${mpirun} ${ranks})
  add_test(NAME ${name} COMMAND ${command} ${ARGN})
  crochet_mpi_properties(${name})
endfunction()

# A hang is a failure of this test, after a minute. Ranks that wait use their processors fully.
function(crochet_mpi_properties name)
  set_tests_properties(${name} PROPERTIES LABELS mpi RUN_SERIAL ON PROCESSORS 2 TIMEOUT 60)
endfunction()
