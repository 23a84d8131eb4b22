# SPDX-License-Identifier: Apache-2.0
# keplerd_embed_text(HEADER CONSTANT FILE): writes HEADER (below the build directory), which defines
# `keplerd::CONSTANT`, the text of FILE; made again when FILE changes.
function(keplerd_embed_text header constant file)
  file(READ ${file} text)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/${header} @ONLY CONTENT
"// Made from a text file by cmake/embed.cmake.
#pragma once
#include <string_view>
namespace keplerd {
inline constexpr std::string_view @constant@ = R\"__(@text@)__\";
}
")
endfunction()
