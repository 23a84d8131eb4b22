// SPDX-License-Identifier: Apache-2.0
#include "ledger/log/writer.h"

#include <utility>

#include "ledger/account_state.h"
#include "ledger/log/records.h"
#include "ledger/log/row.h"
#include "ledger/log/states.h"

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
    for (const EnergyAccount::ZoneEnergy& zone : account.zones) add(zone.total.value);
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

}  // namespace

std::string save_point_record(const LedgerState& state) {
  std::string record;
  begin_record(record, RecordKind::kSavePoint);
  ByteWriter out(record);
  out.text(state.instance_id);
  out.number(state.saved.count());
  out.number(static_cast<std::int64_t>(state.processes.size()));
  for (const ProcessState& process : state.processes) put(out, process);
  finish_record(record);
  return record;
}

std::string_view LogWriter::record(const Ledger& ledger, const std::vector<SavedReading>& readings) {
  begin_record(record_, RecordKind::kSample);
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
  append_processes(ledger.processes());
  finish_record(record_);
  return record_;
}

// Both are in the order of their ids.
template <class Accounts>
void LogWriter::append_changes(const Accounts& accounts, std::vector<Written>& written) {
  ByteWriter out(record_);
  next_.clear();
  next_.reserve(accounts.size());
  auto last = written.begin();
  const auto remove = [&] {
    out.byte(static_cast<std::uint8_t>(LogRow::kRemoved));
    out.text(*last->id);
    ++last;
  };
  for (const auto& [id, entry] : accounts) {
    const auto& account = account_of(entry);
    while (last != written.end() && last->info != account.info && *last->id < id) remove();
    const bool is_known = last != written.end() && *last->id == id;
    const Written now{account.info, &account.info->id, digest(account)};
    const bool is_described = is_known && last->info == now.info;
    if (!is_described || last->digest != now.digest) {
      const auto state = state_of(account);
      out.byte(static_cast<std::uint8_t>(is_described ? LogRow::kChanged : LogRow::kDescribed));
      out.text(id);
      if (!is_described) out.text(describe(state));
      put_numbers(out, state);
    }
    if (is_known) ++last;
    next_.push_back(now);
  }
  while (last != written.end()) remove();
  out.byte(static_cast<std::uint8_t>(LogRow::kEnd));
  std::swap(written, next_);
}

void LogWriter::append_processes(const ProcessLedger& processes) {
  ByteWriter out(record_);
  next_processes_.clear();
  auto last = processes_.begin();
  const auto remove = [&] {
    out.byte(static_cast<std::uint8_t>(LogRow::kRemoved));
    put(out, last->id);
    ++last;
  };
  for (const auto& [id, process] : processes.all()) {
    if (process.energy.ended) continue;
    while (last != processes_.end() && last->id < id) remove();
    const bool is_known = last != processes_.end() && last->id == id;
    const WrittenProcess now{id, digest(process)};
    if (!is_known || last->digest != now.digest) {
      out.byte(static_cast<std::uint8_t>(LogRow::kChanged));
      put(out, state_of(id, process));
    }
    if (is_known) ++last;
    next_processes_.push_back(now);
  }
  while (last != processes_.end()) remove();
  out.byte(static_cast<std::uint8_t>(LogRow::kEnd));
  std::swap(processes_, next_processes_);
}

}  // namespace keplerd
