# SPDX-License-Identifier: Apache-2.0
# What the presets for tests save time with. Off elsewhere: precompiled headers and united sources hide includes that a
# file forgot.
option(KEPLERD_PRECOMPILE "Precompile the headers of the language and of third parties" OFF)
option(KEPLERD_UNITY "Compile several sources of the largest targets at once" OFF)
option(KEPLERD_FAST_LINKER "Link with mold or lld, where the compiler has one" OFF)

if(KEPLERD_FAST_LINKER)
  include(CheckLinkerFlag)
  foreach(linker IN ITEMS mold lld)
    check_linker_flag(CXX -fuse-ld=${linker} KEPLERD_HAS_${linker})
    if(KEPLERD_HAS_${linker})
      add_link_options(-fuse-ld=${linker})
      break()
    endif()
  endforeach()
endif()

if(KEPLERD_PRECOMPILE AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # Collecting garbage means going through all that was precompiled: with enough memory it is not worth its time.
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:--param=ggc-min-heapsize=500000>)
endif()

# What most files of this project include.
set(KEPLERD_STANDARD_HEADERS <algorithm> <chrono> <filesystem> <fstream> <functional> <map> <memory> <optional> <ranges>
                             <set> <span> <string> <string_view> <unordered_map> <variant> <vector>)

# Each has headers of its own, as its macros are others. Folders that include nothing of the kind go without.
function(keplerd_precompile_headers)
  if(NOT KEPLERD_PRECOMPILE)
    return()
  endif()
  target_precompile_headers(keplerd_energy PRIVATE ${KEPLERD_STANDARD_HEADERS})
  foreach(target IN ITEMS keplerd_attribution keplerd_report keplerd_ledger)
    target_precompile_headers(${target} REUSE_FROM keplerd_energy)
  endforeach()
  foreach(target IN ITEMS keplerd_varlink keplerd_client keplerd_cli keplerd_exporter)
    target_precompile_headers(${target} PRIVATE <nlohmann/json.hpp>)
  endforeach()
  target_precompile_headers(keplerd_daemon PRIVATE <nlohmann/json.hpp> <sdbus-c++/sdbus-c++.h>)
endfunction()

# Most of the time of these targets goes into headers that all their sources include. Four at once, so that an edit
# of one of them still takes seconds.
function(keplerd_unite_sources)
  if(NOT KEPLERD_UNITY)
    return()
  endif()
  foreach(target IN ITEMS keplerd_ledger keplerd_daemon keplerd_cli keplerd_exporter keplerd_history
                          daemon_test dbus_test attribution_test cli_test exporter_test history_test)
    if(TARGET ${target})
      set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 4)
      # gcc takes what a source keeps to itself for a header's
      target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
    endif()
  endforeach()
endfunction()

# keplerd_precompile_test(TARGET): one precompiled gtest for all tests, which therefore have the same macros.
function(keplerd_precompile_test target)
  if(NOT KEPLERD_PRECOMPILE)
    return()
  endif()
  if(NOT TARGET keplerd_test_headers)
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/test_headers.cpp CONTENT "")
    add_library(keplerd_test_headers OBJECT ${PROJECT_BINARY_DIR}/test_headers.cpp)
    target_link_libraries(keplerd_test_headers PRIVATE GTest::gmock fmt::fmt keplerd_flags)
    target_precompile_headers(keplerd_test_headers PRIVATE <gtest/gtest.h> <gmock/gmock.h> ${KEPLERD_STANDARD_HEADERS})
  endif()
  target_link_libraries(${target} PRIVATE fmt::fmt)
  target_precompile_headers(${target} REUSE_FROM keplerd_test_headers)
endfunction()
