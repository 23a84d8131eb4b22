// SPDX-License-Identifier: Apache-2.0
// Keeps a ledger's state in a file, so that a restart goes on counting and a crash loses at most what came
// after the last save.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "ledger/state.h"

namespace keplerd {

// Replaces the file as a whole or not at all: written beside it, synced, renamed. Mode 0600: it holds what
// others used.
Result<Done> save_state(const std::string& path, const LedgerState& state);

struct LoadedState {
  std::optional<LedgerState> state;    // unset: there was no file, or it was no good
  std::optional<std::string> warning;  // it was no good: why, and under which name it was kept
};

// Fails only where the file is there and cannot be read. One that cannot be understood is renamed to
// PATH.corrupt.
Result<LoadedState> load_state(const std::string& path);

}  // namespace keplerd
