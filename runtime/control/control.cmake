# The library target `polysome_control`: what protoc makes of control.proto, and gRPC. Include it after project().
#   set(POLYSOME_RUNTIME .../runtime) before.
find_package(PkgConfig REQUIRED)
find_program(PROTOC protoc)
find_program(GRPC_CPP_PLUGIN grpc_cpp_plugin)
pkg_check_modules(GRPCPP grpc++ protobuf)
if(NOT PROTOC OR NOT GRPC_CPP_PLUGIN OR NOT GRPCPP_FOUND)
  message(FATAL_ERROR "no gRPC for C++. Debian, Ubuntu: apt install libgrpc++-dev protobuf-compiler-grpc pkg-config")
endif()

set(_control ${CMAKE_BINARY_DIR}/control)
file(MAKE_DIRECTORY ${_control})
add_custom_command(
  OUTPUT ${_control}/control.pb.cc ${_control}/control.pb.h ${_control}/control.grpc.pb.cc ${_control}/control.grpc.pb.h
  COMMAND ${PROTOC} -I ${POLYSOME_RUNTIME}/control --cpp_out=${_control} --grpc_out=${_control}
          --plugin=protoc-gen-grpc=${GRPC_CPP_PLUGIN} ${POLYSOME_RUNTIME}/control/control.proto
  DEPENDS ${POLYSOME_RUNTIME}/control/control.proto
  VERBATIM)
add_library(polysome_control STATIC ${_control}/control.pb.cc ${_control}/control.grpc.pb.cc)
# Its speed does not matter, and its warnings are not ours.
target_compile_options(polysome_control PRIVATE -O1 -w)
set_target_properties(polysome_control PROPERTIES INTERPROCEDURAL_OPTIMIZATION OFF POSITION_INDEPENDENT_CODE ON)
target_include_directories(polysome_control SYSTEM PUBLIC ${_control} ${GRPCPP_INCLUDE_DIRS})
target_link_libraries(polysome_control PUBLIC ${GRPCPP_LINK_LIBRARIES})
find_package(Threads REQUIRED)
target_link_libraries(polysome_control PUBLIC Threads::Threads)
