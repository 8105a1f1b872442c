# cmake -D program=P -D dump=D -D root=R -P find.cmake: the training ends with a NaN and dumps one run; crochet-dump
# prints the node of the first NaN, and its inputs.
cmake_minimum_required(VERSION 3.25)

file(REMOVE_RECURSE ${root})
execute_process(COMMAND ${program} --root ${root} OUTPUT_VARIABLE printed ERROR_VARIABLE printed RESULT_VARIABLE status)
message("${printed}")
if(status EQUAL 0 OR NOT printed MATCHES "crochet: loss is NaN at step [0-9]+\n")
  message(FATAL_ERROR "it ended with ${status}, and not by NanTensor")
endif()
file(GLOB runs ${root}/run_*)
list(LENGTH runs count)
if(NOT count EQUAL 1)
  message(FATAL_ERROR "${count} runs were dumped instead of one: ${runs}")
endif()
execute_process(COMMAND ${dump} find ${root} --nan OUTPUT_VARIABLE printed ERROR_VARIABLE printed RESULT_VARIABLE status)
message("${printed}")
if(NOT status EQUAL 0 OR
    NOT printed MATCHES "^run_[^\n]* loss/mul_1:0 [^\n]* NaN [^\n]*first in step order\n[^\n]*fed by [^\n]*\n[^\n]*fed by +loss/log_rest:0 [^\n]*-Inf")
  message(FATAL_ERROR "crochet-dump does not name the node where it began")
endif()
