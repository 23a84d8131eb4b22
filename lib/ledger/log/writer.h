// SPDX-License-Identifier: Apache-2.0
// What happened to the accounts since the state was saved, as bytes that are appended to a file with each
// sample, before anybody sees the sample. A run that was killed goes on from the saved state and this log
// (redo.h), so that nothing it has published is ever taken back.
//
// A save point says which saved state the records after it continue. All others hold values, not differences,
// so that it does no harm to redo what the state already has. The first record of a run has all rows, and
// replaces those of the run before, of which it may have given up some.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/ledger.h"
#include "ledger/state.h"

namespace keplerd {

class ByteWriter;

// That `state` is saved as it is now; its processes and CPU times, which the saved text does not have.
std::string save_point_record(const LedgerState& state);

class LogWriter {
 public:
  // What has changed in the ledger since its last record; all rows where there was none, or where it is no
  // longer known what has changed. `changed`: the CPU times that have changed with this sample. Valid until
  // the next call.
  std::string_view record(const Ledger& ledger, const std::vector<SavedReading>& readings,
                          const SavedUsage& changed);

 private:
  // What was last written of a unit, container or VM, and of a process.
  struct Written {
    std::shared_ptr<const void> info;  // the very description; its id is in it
    const std::string* id = nullptr;
    std::uint64_t digest = 0;

    template <class Account>
    static Written of(const Account& account);
    bool is_before(const std::string& other, const Written& now) const;
    bool is_of(const std::string& other, const Written& now) const {
      return info == now.info || *id == other;
    }
    bool is_as(const Written& last) const { return info == last.info && digest == last.digest; }
    // What `account` has that is not in `last`, which is null if nothing was written of it.
    template <class Account>
    void put_change(ByteWriter& out, const Written* last, const Account& account) const;
  };
  struct WrittenProcess {
    ProcessId id;
    std::uint64_t digest = 0;
  };
  bool find_changes(const ProcessLedger& ledger);
  template <class Accounts>
  void append_changes(const Accounts& accounts, std::vector<Written>& written);
  void append_changed_processes(const ProcessLedger& ledger);

  std::string record_;
  std::vector<Written> units_, containers_, pods_, vms_, next_;
  std::vector<WrittenProcess> processes_, next_processes_;
  // In the ledger's list of changed processes. Unset: the next record is a whole one.
  std::optional<std::uint64_t> place_;
  std::vector<ProcessId> changed_processes_;  // in order, each once
};

}  // namespace keplerd
