// SPDX-License-Identifier: Apache-2.0
// Shows a long text through the user's pager.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace keplerd::cli {

// Runs `command` by the shell (unset: less, which ends at once where the text fits) with `text` as its input,
// and waits for it. False where nothing was shown because no pager could be started.
bool show_in_pager(std::string_view text, const std::optional<std::string>& command);

}  // namespace keplerd::cli
