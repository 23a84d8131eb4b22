// SPDX-License-Identifier: Apache-2.0
// Keeps a ledger's state in a file, so that a restart continues counting and a crash loses at most what was
// counted after the last save.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "ledger/state.h"

namespace keplerd {

// Replaces the file atomically: writes a temporary file next to it, syncs and renames it. Mode 0600: it holds
// other users' usage.
Result<Done> save_state(const std::string& path, const LedgerState& state);

// Renames the file, and waits until that is on the disk.
Result<Done> rename_state(const std::string& from, const std::string& to);

struct LoadedState {
  std::optional<LedgerState> state;    // unset: there was no file, or it was invalid
  std::optional<std::string> warning;  // why it was invalid, and under which name it was kept
};

// Fails only if the file exists but cannot be read. An invalid one is renamed to
// PATH.corrupt.
Result<LoadedState> load_state(const std::string& path);

}  // namespace keplerd
