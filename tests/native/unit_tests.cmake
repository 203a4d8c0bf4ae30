# What projects of unit tests share. Include it after project(), then call `unit_tests`.
option(SANITIZE "Build with AddressSanitizer and UndefinedBehaviorSanitizer" ON)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
# -O0: a third of the time to build, and nothing that a sanitizer could have seen is gone.
add_compile_options(-O0 -g1 -Wall -Wextra)

if(SANITIZE)
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
endif()

include_directories(${CMAKE_CURRENT_LIST_DIR}/../../runtime ${CMAKE_CURRENT_SOURCE_DIR})
find_package(Threads REQUIRED)

# unit_tests([FOLDERS folder...] [LIBRARIES library...]): an executable for each test_*.cpp of the project, and of these
# folders, with these libraries. What all include is parsed once: half a second for each of them; but not for those
# whose property SKIP_PRECOMPILE_HEADERS says that they have flags of their own.
function(unit_tests)
  cmake_parse_arguments(PARSE_ARGV 0 given "" "" "FOLDERS;LIBRARIES")
  find_package(GTest REQUIRED)
  set(first "")
  foreach(folder IN LISTS CMAKE_CURRENT_SOURCE_DIR given_FOLDERS)
    file(GLOB sources CONFIGURE_DEPENDS ${folder}/test_*.cpp)
    foreach(source IN LISTS sources)
      get_filename_component(name ${source} NAME_WE)
      add_executable(${name} ${source})
      target_link_libraries(${name} PRIVATE GTest::gtest GTest::gtest_main Threads::Threads ${given_LIBRARIES})
      add_test(NAME ${name} COMMAND ${name})
      get_source_file_property(alone ${source} SKIP_PRECOMPILE_HEADERS)
      if(first AND NOT alone)
        target_precompile_headers(${name} REUSE_FROM ${first})
      elseif(NOT alone)
        target_precompile_headers(
          ${name} PRIVATE <gtest/gtest.h> <algorithm> <array> <functional> <map> <optional> <random> <span> <string>
          <unordered_map> <vector>)
        set(first ${name})
      endif()
    endforeach()
  endforeach()
endfunction()
