# cmake -D program=P -D folder=F -P looks.cmake: profiles and dumps are of different steps, and a folder that contains
# dumps is an error before the training starts.
cmake_minimum_required(VERSION 3.25)
set(training ${program} --model mlp --batch 1000 --epochs 1 --threads 1 --quiet --look-every 30 --profile ${folder}/timelines
  --dump ${folder}/dumps) # 60 steps

file(REMOVE_RECURSE ${folder})
execute_process(COMMAND ${training} OUTPUT_VARIABLE printed ERROR_VARIABLE printed RESULT_VARIABLE status)
message("${printed}")
if(NOT status EQUAL 0)
  message(FATAL_ERROR "the program ended with ${status}")
endif()
file(GLOB timelines RELATIVE ${folder}/timelines ${folder}/timelines/timeline-*.json)
if(NOT "${timelines}" STREQUAL "timeline-30.json;timeline-60.json")
  message(FATAL_ERROR "other steps were profiled: ${timelines}")
endif()
set(dumped "")
file(GLOB runs ${folder}/dumps/run_*/_tfdbg_core_metadata_*)
foreach(run IN LISTS runs)
  file(STRINGS ${run} text REGEX global_step)
  string(REGEX MATCH "\"global_step\": *([0-9]+)" step "${text}")
  list(APPEND dumped "${CMAKE_MATCH_1}") # so many steps had been done before
endforeach()
list(SORT dumped COMPARE NATURAL)
if(NOT "${dumped}" STREQUAL "9;39")
  message(FATAL_ERROR "other steps were dumped: ${dumped}")
endif()

file(REMOVE_RECURSE ${folder}/timelines)
execute_process(COMMAND ${training} OUTPUT_VARIABLE printed ERROR_VARIABLE printed RESULT_VARIABLE status)
message("${printed}")
if(status EQUAL 0 OR NOT printed MATCHES "dumps, is not empty" OR EXISTS ${folder}/timelines)
  message(FATAL_ERROR "it ended with ${status}, and not by refusing the folder before a session begins")
endif()
