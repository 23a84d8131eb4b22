// SPDX-License-Identifier: Apache-2.0
// Shows a long text through the user's pager.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace keplerd::cli {

// Runs `command` in the shell (unset: less, which quits at once if the text fits) with `text` as its input,
// and waits for it. Returns false if no pager could be started, so that nothing was shown.
bool show_in_pager(std::string_view text, const std::optional<std::string>& command);

}  // namespace keplerd::cli
