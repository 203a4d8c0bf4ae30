# What every unit test includes is parsed once for all of a project: half a second for each of them.
function(common_headers name)
  if(COMMON_HEADERS_OF)
    target_precompile_headers(${name} REUSE_FROM ${COMMON_HEADERS_OF})
  else()
    target_precompile_headers(
      ${name} PRIVATE <gtest/gtest.h> <algorithm> <array> <functional> <map> <optional> <random> <span> <string>
      <unordered_map> <vector>)
    set(COMMON_HEADERS_OF ${name} PARENT_SCOPE)
  endif()
endfunction()
