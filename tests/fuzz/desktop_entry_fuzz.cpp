// SPDX-License-Identifier: Apache-2.0
// The name in a desktop file is safe and short, whatever the file and the locale; an id is never a path. The
// first line of the input is a locale and the name of a unit.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "base/parse.h"
#include "cli/apps/app_unit.h"
#include "cli/apps/desktop_entry.h"
#include "shown_text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace keplerd;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string_view first = take_until(text, '\n');
  const auto locales = cli::apps::locale_keys(first);
  if (locales.size() > 4) std::abort();
  if (const auto name = cli::apps::desktop_name(text, locales)) check_name(*name);
  const auto ids = cli::apps::app_ids(first);
  if (ids.size() > 2) std::abort();
  for (const std::string& id : ids) {
    if (id.empty() || id.size() > 255 || id.starts_with('.') || id.find('/') != std::string::npos)
      std::abort();
    check_name(cli::apps::shown_name(id));
  }
  return 0;
}
