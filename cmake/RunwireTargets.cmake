# runwire_room(NAME DIRS... LINKS...): one static library for one room of the house.
# Sources are found by glob so that a new file needs no second edit; CMake looks again at each build.
add_library(runwire_flags INTERFACE)
target_compile_features(runwire_flags INTERFACE cxx_std_23)
target_include_directories(runwire_flags INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(
  runwire_flags
  INTERFACE -Wall
            -Wextra
            -Wpedantic
            -Wshadow
            -Wconversion
            -Wsign-conversion
            -Wold-style-cast
            -Wnon-virtual-dtor
            -Woverloaded-virtual
            -Wnull-dereference
            -Wformat=2
            $<$<CXX_COMPILER_ID:GNU>:-Wduplicated-cond>
            $<$<CXX_COMPILER_ID:GNU>:-Wlogical-op>
            $<$<BOOL:${RUNWIRE_WERROR}>:-Werror>)
find_package(Threads REQUIRED)
target_link_libraries(runwire_flags INTERFACE Threads::Threads)

function(runwire_room name)
  cmake_parse_arguments(ROOM "" "" "DIRS;LINKS" ${ARGN})
  set(sources)
  foreach(dir IN LISTS ROOM_DIRS)
    file(GLOB_RECURSE found CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${dir}/*.cpp)
    list(APPEND sources ${found})
  endforeach()
  if(sources)
    add_library(${name} STATIC ${sources})
    target_link_libraries(${name} PUBLIC runwire_flags ${ROOM_LINKS})
  else()
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE runwire_flags ${ROOM_LINKS})
  endif()
endfunction()
