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

std::uint64_t digest(const UnitAccount& unit) {
  Digest digest;
  digest.add(unit.energy);
  digest.add(unit.own.value);
  return digest.value();
}

std::uint64_t digest(const ContainerAccount& container) {
  Digest digest;
  digest.add(container.energy);
  digest.add(container.own.value);
  digest.add(container.in_parent.value);
  return digest.value();
}

std::uint64_t digest(const VmAccount& vm) {
  Digest digest;
  digest.add(vm.energy);
  digest.add(static_cast<std::int64_t>(vm.evidence));
  for (const auto& [name, energy] : vm.parts) digest.add(energy.value);
  return digest.value();
}

std::uint64_t digest(const ProcessAccount& process) {
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

// Of processes, only those that run: they end with the boot.
template <class Account>
bool is_logged(const Account&) {
  return true;
}
bool is_logged(const ProcessAccount& process) { return !process.energy.ended; }

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
LogWriter::Written LogWriter::Written::of(const std::string&, const Account& account) {
  return {account.info, &account.info->id, keplerd::digest(account)};
}

// Comparing ids is for those whose description is another.
bool LogWriter::Written::is_before(const std::string& other, const Written& now) const {
  return info != now.info && *id < other;
}

void LogWriter::Written::put_id(ByteWriter& out) const { out.text(*id); }

template <class Account>
void LogWriter::Written::put_change(ByteWriter& out, const Written* last, const Account& account) const {
  const bool is_described = last != nullptr && last->info == info;
  const auto state = state_of(account);
  put(out, is_described ? LogRow::kChanged : LogRow::kDescribed);
  out.text(*id);
  if (!is_described) out.text(describe(state));
  put_numbers(out, state);
}

LogWriter::WrittenProcess LogWriter::WrittenProcess::of(ProcessId id, const ProcessAccount& process) {
  return {id, keplerd::digest(process)};
}

void LogWriter::WrittenProcess::put_id(ByteWriter& out) const { put(out, id); }

void LogWriter::WrittenProcess::put_change(ByteWriter& out, const WrittenProcess*,
                                           const ProcessAccount& process) const {
  put(out, LogRow::kChanged);
  put(out, state_of(id, process));
}

// `accounts` and `written` are in the order of their ids.
template <class Accounts, class Row>
void LogWriter::append_changes(const Accounts& accounts, std::vector<Row>& written, std::vector<Row>& next) {
  ByteWriter out(record_);
  next.clear();
  next.reserve(accounts.size());
  auto last = written.begin();
  const auto remove = [&] {
    put(out, LogRow::kRemoved);
    last->put_id(out);
    ++last;
  };
  for (const auto& [id, entry] : accounts) {
    const auto& account = account_of(entry);
    if (!is_logged(account)) continue;
    const Row& now = next.emplace_back(Row::of(id, account));
    while (last != written.end() && last->is_before(id, now)) remove();
    const bool is_known = last != written.end() && last->is_of(id, now);
    if (!is_known || !now.is_as(*last)) now.put_change(out, is_known ? &*last : nullptr, account);
    if (is_known) ++last;
  }
  while (last != written.end()) remove();
  put(out, LogRow::kEnd);
  std::swap(written, next);
}

// The same for processes, without a look at all those that have not changed.
void LogWriter::append_process_changes(const ProcessLedger& ledger, std::span<const ProcessId> changed) {
  changed_processes_.assign(changed.begin(), changed.end());
  std::ranges::sort(changed_processes_);
  changed_processes_.erase(std::unique(changed_processes_.begin(), changed_processes_.end()),
                           changed_processes_.end());

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
    if (account != nullptr && is_logged(*account)) {
      const WrittenProcess& now = next.emplace_back(WrittenProcess::of(id, *account));
      if (!is_known || !now.is_as(*last)) now.put_change(out, nullptr, *account);
    } else if (is_known) {
      put(out, LogRow::kRemoved);
      last->put_id(out);
    }
    if (is_known) ++last;
  }
  next.insert(next.end(), last, processes_.cend());
  put(out, LogRow::kEnd);
  std::swap(processes_, next);
}

std::string_view LogWriter::record(const Ledger& ledger, const std::vector<SavedReading>& readings,
                                   const SavedUsage& changed) {
  begin_record(record_, place_ ? RecordKind::kSample : RecordKind::kWhole);
  ByteWriter out(record_);
  out.number(ledger.realtime().count());
  out.number(static_cast<std::int64_t>(ledger.discarded_windows()));
  const auto zones = ledger.zone_states();
  out.number(static_cast<std::int64_t>(zones.size()));
  for (const ZoneState& zone : zones) put(out, zone);
  out.number(static_cast<std::int64_t>(readings.size()));
  for (const SavedReading& reading : readings) put(out, reading);
  append_changes(ledger.units().all(), units_, next_);
  append_changes(ledger.containers().containers(), containers_, next_);
  append_changes(ledger.containers().pods(), pods_, next_);
  append_changes(ledger.vms().all(), vms_, next_);
  const ChangedProcesses& changes = ledger.processes().changed();
  if (const auto since = place_ ? changes.since(*place_) : std::nullopt) {
    append_process_changes(ledger.processes(), *since);
  } else {
    append_changes(ledger.processes().all(), processes_, next_processes_);
  }
  place_ = changes.place();
  put(out, changed);
  finish_record(record_);
  return record_;
}

}  // namespace keplerd
