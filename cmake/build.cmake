# SPDX-License-Identifier: Apache-2.0
# Language, warnings and sanitizers, and how a target of this project is declared.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo)
endif()

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()

add_library(keplerd_flags INTERFACE)
# gcc 14 warns of members that a designated initializer leaves at their default: that is what these are for.
target_compile_options(keplerd_flags INTERFACE -Wall -Wextra -Wconversion -Wshadow -Wnon-virtual-dtor
                                               -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # gcc 12 sees overlaps in `"text" + string` that there are not (its bug 105651).
  target_compile_options(keplerd_flags INTERFACE -Wno-restrict)
endif()
if(KEPLERD_WERROR)
  target_compile_options(keplerd_flags INTERFACE -Werror)
endif()
if(KEPLERD_FUZZ)
  # Everything a fuzzer links reports to it what was reached. tests/fuzz adds libFuzzer itself.
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES Clang)
    message(FATAL_ERROR "KEPLERD_FUZZ needs clang: cmake -DCMAKE_CXX_COMPILER=clang++ ...")
  endif()
  set(KEPLERD_SANITIZE address,undefined)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
if(KEPLERD_SANITIZE)
  add_compile_options(-fsanitize=${KEPLERD_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${KEPLERD_SANITIZE})
endif()

# keplerd_library(NAME SOURCES file... [DEPENDS target...])
# The folder NAME of lib/, included as "NAME/header.h".
function(keplerd_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  add_library(keplerd_${name} STATIC ${ARG_SOURCES})
  target_include_directories(keplerd_${name} PUBLIC ${PROJECT_SOURCE_DIR}/lib)
  target_link_libraries(keplerd_${name} PUBLIC ${ARG_DEPENDS} PRIVATE keplerd_flags)
endfunction()

# keplerd_program(NAME SOURCES file... [DEPENDS target...] [DESTINATION dir])
# Installed to the ordinary programs' directory unless DESTINATION is set.
function(keplerd_program name)
  cmake_parse_arguments(ARG "" "DESTINATION" "SOURCES;DEPENDS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
  target_link_libraries(${name} PRIVATE ${ARG_DEPENDS} keplerd_flags)
  if(NOT ARG_DESTINATION)
    set(ARG_DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
  install(TARGETS ${name} RUNTIME DESTINATION ${ARG_DESTINATION})
endfunction()
