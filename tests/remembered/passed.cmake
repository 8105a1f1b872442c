# A check that has passed is not repeated while nothing that it depends on has changed.
#
# crochet_passed(<result> <key>): whether the check with this key, which contains its command, has passed before. Uses
# the variables `sources` (what sources.cmake wrote), `case` (a file), `passed` (the folder of results), and perhaps
# `parts` (files that the case includes).
function(crochet_passed result key)
  file(READ ${sources} all)
  set(own "")
  foreach(file IN LISTS case parts)
    file(SHA256 ${file} hash)
    string(APPEND own " ${hash}")
  endforeach()
  string(SHA256 name "${key} ${case}")
  set(crochet_passed_file ${passed}/${name} PARENT_SCOPE)
  set(crochet_passed_text "${all}${own}" PARENT_SCOPE)
  set(${result} OFF PARENT_SCOPE)
  if(EXISTS ${passed}/${name})
    file(READ ${passed}/${name} before)
    if(before STREQUAL "${all}${own}")
      set(${result} ON PARENT_SCOPE)
    endif()
  endif()
endfunction()

# crochet_remember_pass(): behind a check that passed.
macro(crochet_remember_pass)
  file(WRITE ${crochet_passed_file} "${crochet_passed_text}")
endmacro()
