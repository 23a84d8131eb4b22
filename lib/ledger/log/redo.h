// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

#include "base/result.h"
#include "ledger/state.h"

namespace keplerd {

struct Redone {
  bool matches = false;        // there is a save point of this very state; else it is unchanged
  bool is_of_another = false;  // there is none, but one of another instance that was saved later
  std::size_t length = 0;      // of the log, without a last record that is cut off
};

// Brings a state that was loaded to where the write-ahead log (writer.h) ends. Fails where the log is damaged
// or leads to what is no state (state_checks.h); the state is unchanged then.
Result<Redone> redo(std::string_view log, LedgerState& state);

}  // namespace keplerd
