# The library target `polysome_control`: what protoc makes of control.proto, and gRPC. Include it after project().
#   set(POLYSOME_RUNTIME .../runtime) before.
set(POLYSOME_CONTROL "" CACHE PATH "a build folder of this library, to be used instead of building it")
if(POLYSOME_CONTROL)
  include(${POLYSOME_CONTROL}/grpc.cmake)
  add_library(polysome_control STATIC IMPORTED)
  set_target_properties(polysome_control PROPERTIES IMPORTED_LOCATION ${POLYSOME_CONTROL}/libpolysome_control.a)
  set(_control ${POLYSOME_CONTROL}/control)
else()
  find_package(PkgConfig REQUIRED)
  find_program(PROTOC protoc)
  find_program(GRPC_CPP_PLUGIN grpc_cpp_plugin)
  pkg_check_modules(GRPCPP grpc++ protobuf libcrypto)
  if(NOT PROTOC OR NOT GRPC_CPP_PLUGIN OR NOT GRPCPP_FOUND)
    message(FATAL_ERROR "no gRPC for C++. Debian, Ubuntu: apt install libgrpc++-dev libprotobuf-dev protobuf-compiler-grpc pkg-config")
  endif()
  # pkg-config takes seconds for gRPC: who uses this folder need not ask again.
  file(WRITE ${CMAKE_BINARY_DIR}/grpc.cmake
       "set(GRPCPP_INCLUDE_DIRS \"${GRPCPP_INCLUDE_DIRS}\")\nset(GRPCPP_LINK_LIBRARIES \"${GRPCPP_LINK_LIBRARIES}\")\n")
  set(_control ${CMAKE_BINARY_DIR}/control)
  file(MAKE_DIRECTORY ${_control})
  add_custom_command(
    OUTPUT ${_control}/control.pb.cc ${_control}/control.pb.h ${_control}/control.grpc.pb.cc ${_control}/control.grpc.pb.h
    COMMAND ${PROTOC} -I ${POLYSOME_RUNTIME}/control --cpp_out=${_control} --grpc_out=${_control}
            --plugin=protoc-gen-grpc=${GRPC_CPP_PLUGIN} ${POLYSOME_RUNTIME}/control/control.proto
    DEPENDS ${POLYSOME_RUNTIME}/control/control.proto
    VERBATIM)
  add_library(polysome_control STATIC ${_control}/control.pb.cc ${_control}/control.grpc.pb.cc)
  target_include_directories(polysome_control SYSTEM PRIVATE ${_control} ${GRPCPP_INCLUDE_DIRS})
  target_compile_features(polysome_control PRIVATE cxx_std_20)  # what the headers need, whatever includes this
  # Its speed does not matter, and its warnings are not ours.
  target_compile_options(polysome_control PRIVATE -O1 -w)
  set_target_properties(polysome_control PROPERTIES INTERPROCEDURAL_OPTIMIZATION OFF POSITION_INDEPENDENT_CODE ON)
endif()
target_include_directories(polysome_control SYSTEM INTERFACE ${_control} ${GRPCPP_INCLUDE_DIRS})
find_package(Threads REQUIRED)
target_link_libraries(polysome_control INTERFACE ${GRPCPP_LINK_LIBRARIES} Threads::Threads)
