// SPDX-License-Identifier: Apache-2.0
#include "ledger/log/writer.h"

#include <algorithm>
#include <utility>

#include "ledger/account_state.h"
#include "ledger/log/records.h"
#include "ledger/log/row.h"
#include "ledger/log/states.h"
#include "ledger/log/usage.h"

namespace keplerd {
namespace {

// Sixty-four bits of what an account holds. That another amount has the same once in 10^19 changes is a row
// that is written one change later.
class Digest {
 public:
  void add(std::int64_t value) {
    value_ = (value_ ^ static_cast<std::uint64_t>(value)) * 0x9e3779b97f4a7c15U;
    value_ ^= value_ >> 29;
  }
  void add(const EnergyAccount& account) {
    for (const EnergyAccount::ZoneEnergy& zone : account.zones)
      add(zone.total.value);  // its idle grows with it
    add(account.cpu.count());
    add(account.since.count());
    add(account.ended ? account.ended->count() : -1);
    add(account.owner ? std::int64_t{*account.owner} : -1);
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 1;
};

std::uint64_t digest_of(const UnitAccount& unit) {
  Digest digest;
  digest.add(unit.energy);
  digest.add(unit.own.value);
  return digest.value();
}

std::uint64_t digest_of(const ContainerAccount& container) {
  Digest digest;
  digest.add(container.energy);
  digest.add(container.own.value);
  digest.add(container.in_parent.value);
  return digest.value();
}

std::uint64_t digest_of(const VmAccount& vm) {
  Digest digest;
  digest.add(vm.energy);
  digest.add(static_cast<std::int64_t>(vm.evidence));
  for (const auto& [name, energy] : vm.parts) digest.add(energy.value);
  return digest.value();
}

std::uint64_t digest_of(const ProcessAccount& process) {
  Digest digest;
  digest.add(process.energy);
  digest.add(process.in_unit.value);
  if (process.unit != nullptr) digest.add(static_cast<std::int64_t>(process.unit->incarnation));
  return digest.value();
}

const UnitAccount& account_of(const std::unique_ptr<UnitAccount>& unit) { return *unit; }
template <class Account>
const Account& account_of(const Account& account) {
  return account;
}

void put(ByteWriter& out, LogRow row) { out.byte(static_cast<std::uint8_t>(row)); }

}  // namespace

std::string save_point_record(const LedgerState& state) {
  std::string record;
  begin_record(record, RecordKind::kSavePoint);
  ByteWriter out(record);
  out.text(state.instance_id);
  out.number(state.saved.count());
  out.number(static_cast<std::int64_t>(state.processes.size()));
  for (const ProcessState& process : state.processes) put(out, process);
  if (state.usage) put(out, *state.usage);
  finish_record(record);
  return record;
}

template <class Account>
LogWriter::Written LogWriter::Written::of(const Account& account) {
  return {account.info, &account.info->id, digest_of(account)};
}

// Comparing ids is for those whose description is another.
bool LogWriter::Written::is_before(const std::string& other, const Written& now) const {
  return info != now.info && *id < other;
}

template <class Account>
void LogWriter::Written::put_change(ByteWriter& out, const Written* last, const Account& account) const {
  const bool is_described = last != nullptr && last->info == info;
  const auto state = state_of(account);
  put(out, is_described ? LogRow::kChanged : LogRow::kDescribed);
  out.text(*id);
  if (!is_described) out.text(describe(state));
  put_numbers(out, state);
}

// `accounts` and `written` are in the order of their ids.
template <class Accounts>
void LogWriter::append_changes(const Accounts& accounts, std::vector<Written>& written) {
  ByteWriter out(record_);
  next_.clear();
  next_.reserve(accounts.size());
  auto last = written.begin();
  const auto remove = [&] {
    put(out, LogRow::kRemoved);
    out.text(*last->id);
    ++last;
  };
  for (const auto& [id, entry] : accounts) {
    const auto& account = account_of(entry);
    const Written& now = next_.emplace_back(Written::of(account));
    while (last != written.end() && last->is_before(id, now)) remove();
    const bool is_known = last != written.end() && last->is_of(id, now);
    if (!is_known || !now.is_as(*last)) now.put_change(out, is_known ? &*last : nullptr, account);
    if (is_known) ++last;
  }
  while (last != written.end()) remove();
  put(out, LogRow::kEnd);
  std::swap(written, next_);
}

// A host has many more processes than change: only these are looked at. Those that have ended are not in the
// log, because processes end with the boot.
void LogWriter::append_changed_processes(const ProcessLedger& ledger) {
  ByteWriter out(record_);
  std::vector<WrittenProcess>& next = next_processes_;
  next.clear();
  auto last = processes_.cbegin();
  for (const ProcessId id : changed_processes_) {
    const auto at = std::ranges::lower_bound(last, processes_.cend(), id, {}, &WrittenProcess::id);
    next.insert(next.end(), last, at);
    last = at;
    const bool is_known = last != processes_.cend() && last->id == id;
    const ProcessAccount* const account = ledger.find(id);
    if (account != nullptr && !account->energy.ended) {
      const std::uint64_t digest = next.emplace_back(WrittenProcess{id, digest_of(*account)}).digest;
      if (!is_known || digest != last->digest) {
        put(out, LogRow::kChanged);
        put(out, state_of(id, *account));
      }
    } else if (is_known) {
      put(out, LogRow::kRemoved);
      put(out, id);
    }
    if (is_known) ++last;
  }
  next.insert(next.end(), last, processes_.cend());
  put(out, LogRow::kEnd);
  std::swap(processes_, next);
}

// Returns whether it is known what has changed since the last record. If not, nothing counts as written, and
// all processes as changed.
bool LogWriter::find_changes(const ProcessLedger& ledger) {
  const auto place = std::exchange(place_, std::nullopt);  // set again when the record is complete
  const auto since = place ? ledger.changed().since(*place) : std::nullopt;
  changed_processes_.clear();
  if (since) {
    changed_processes_.assign(since->begin(), since->end());
    std::ranges::sort(changed_processes_);
    changed_processes_.erase(std::unique(changed_processes_.begin(), changed_processes_.end()),
                             changed_processes_.end());
  } else {
    for (std::vector<Written>* const written : {&units_, &containers_, &pods_, &vms_}) written->clear();
    processes_.clear();
    for (const auto& [id, process] : ledger.all()) changed_processes_.push_back(id);
  }
  return since.has_value();
}

std::string_view LogWriter::record(const Ledger& ledger, const std::vector<SavedReading>& readings,
                                   const SavedUsage& changed) {
  const ProcessLedger& processes = ledger.processes();
  begin_record(record_, find_changes(processes) ? RecordKind::kSample : RecordKind::kWhole);
  ByteWriter out(record_);
  out.number(ledger.realtime().count());
  out.number(static_cast<std::int64_t>(ledger.discarded_windows()));
  const auto zones = ledger.zone_states();
  out.number(static_cast<std::int64_t>(zones.size()));
  for (const ZoneState& zone : zones) put(out, zone);
  out.number(static_cast<std::int64_t>(readings.size()));
  for (const SavedReading& reading : readings) put(out, reading);
  append_changes(ledger.units().all(), units_);
  append_changes(ledger.containers().containers(), containers_);
  append_changes(ledger.containers().pods(), pods_);
  append_changes(ledger.vms().all(), vms_);
  append_changed_processes(processes);
  put(out, changed);
  finish_record(record_);
  place_ = processes.changed().place();
  return record_;
}

}  // namespace keplerd
