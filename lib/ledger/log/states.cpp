// SPDX-License-Identifier: Apache-2.0
#include "ledger/log/states.h"

#include <limits>

namespace keplerd {
namespace {

void put(ByteWriter& out, const std::vector<Microjoules>& energies) {
  out.number(static_cast<std::int64_t>(energies.size()));
  for (const Microjoules energy : energies) out.number(energy.value);
}

std::vector<Microjoules> get_energies(ByteReader& in) {
  std::vector<Microjoules> energies(in.count());
  for (Microjoules& energy : energies) energy.value = in.amount();
  return energies;
}

// What units, containers, pods and VMs have.
template <class State>
void put_account(ByteWriter& out, const State& state) {
  put(out, state.energy);
  put(out, state.idle);
  out.number(state.error.value);
  out.number(state.cpu.count());
  out.number(state.since.count());
  out.byte(state.ended ? 1 : 0);
  if (state.ended) out.number(state.ended->count());
  out.byte(state.owner ? 1 : 0);
  if (state.owner) out.number(*state.owner);
}

template <class State>
void get_account(ByteReader& in, State& state) {
  state.energy = get_energies(in);
  state.idle = get_energies(in);
  check_idle(state.energy, state.idle);
  state.error.value = in.amount();
  state.cpu = Nanoseconds(in.amount());
  state.since = Realtime(in.amount());
  if (in.byte() != 0)
    state.ended = Realtime(in.amount());
  else
    state.ended.reset();
  state.owner.reset();
  if (in.byte() == 0) return;
  const std::int64_t owner = in.amount();
  if (owner > std::numeric_limits<Uid>::max()) throw Malformed{"an owner is not a user"};
  state.owner = static_cast<Uid>(owner);
}

}  // namespace

void put_numbers(ByteWriter& out, const UnitState& unit) {
  put_account(out, unit);
  out.number(unit.own.value);
}
void get_numbers(ByteReader& in, UnitState& unit) {
  get_account(in, unit);
  unit.own.value = in.amount();
}

void put_numbers(ByteWriter& out, const ContainerState& container) {
  put_account(out, container);
  out.number(container.own.value);
  out.number(container.in_parent.value);
}
void get_numbers(ByteReader& in, ContainerState& container) {
  get_account(in, container);
  container.own.value = in.amount();
  container.in_parent.value = in.amount();
}

void put_numbers(ByteWriter& out, const VmState& vm) {
  put_account(out, vm);
  out.byte(static_cast<std::uint8_t>(vm.evidence.value_or(VmEvidence::kScope)));
  out.number(static_cast<std::int64_t>(vm.parts.size()));
  for (const VmPart& part : vm.parts) {
    out.text(part.name);
    out.number(part.energy.value);
  }
}
void get_numbers(ByteReader& in, VmState& vm) {
  get_account(in, vm);
  const std::uint8_t evidence = in.byte();
  if (evidence > static_cast<std::uint8_t>(VmEvidence::kRecord)) throw Malformed{"unknown evidence"};
  vm.evidence = static_cast<VmEvidence>(evidence);
  vm.parts.resize(in.count());
  for (VmPart& part : vm.parts) {
    part.name = in.text();
    part.energy.value = in.amount();
  }
}

std::string describe(const UnitState&) { return {}; }
std::string describe(const ContainerState& container) { return format_row(container); }
std::string describe(const VmState& vm) { return format_row(vm); }

void get_described(const std::string& id, const std::string&, std::size_t, UnitState& unit) {
  if (id.empty() || id.front() != '/') throw Malformed{"a unit's id is not a path"};
  unit.id = id;
}

void get_described(const std::string& id, const std::string& text, std::size_t zones,
                   ContainerState& container) {
  container = parse_container(text, zones);
  if (container.info.id != id) throw Malformed{"a container has another id"};
}

void get_described(const std::string& id, const std::string& text, std::size_t zones, VmState& vm) {
  vm = parse_vm(text, zones);
  if (vm.info.id != id) throw Malformed{"a virtual machine has another id"};
}

void put(ByteWriter& out, ProcessId id) {
  out.number(id.pid);
  out.number(static_cast<std::int64_t>(id.start));
}

void put(ByteWriter& out, const ProcessState& process) {
  put(out, process.id);
  out.text(process.unit);
  put(out, process.energy);
  put(out, process.idle);
  out.number(process.in_unit.value);
  out.number(process.error.value);
  out.number(process.cpu.count());
  out.number(process.since.count());
}

ProcessId get_process_id(ByteReader& in) {
  const auto pid = static_cast<std::int32_t>(in.number());
  return {pid, static_cast<std::uint64_t>(in.number())};
}

ProcessState get_process(ByteReader& in) {
  ProcessState process;
  process.id = get_process_id(in);
  process.unit = in.text();
  process.energy = get_energies(in);
  process.idle = get_energies(in);
  check_idle(process.energy, process.idle);
  process.in_unit.value = in.amount();
  process.error.value = in.amount();
  process.cpu = Nanoseconds(in.amount());
  process.since = Realtime(in.amount());
  return process;
}

void put(ByteWriter& out, const ZoneState& zone) {
  out.text(zone.id);
  out.text(zone.name);
  out.number(zone.index);
  out.number(static_cast<std::int64_t>(zone.quality));
  out.number(zone.in_total ? 1 : 0);
  for (const Microjoules energy : {zone.energy, zone.idle, zone.kernel, zone.unattributed, zone.placed})
    out.number(energy.value);
  out.number(zone.since.count());
}

ZoneState get_zone(ByteReader& in) {
  ZoneState zone;
  zone.id = in.text();
  zone.name = in.text();
  zone.index = static_cast<int>(in.number());
  const std::int64_t quality = in.number();
  if (quality < 0 || quality > static_cast<std::int64_t>(Quality::kSimulated))
    throw Malformed{"unknown quality"};
  zone.quality = static_cast<Quality>(quality);
  zone.in_total = in.number() != 0;
  for (Microjoules* const energy : {&zone.energy, &zone.idle, &zone.kernel, &zone.unattributed, &zone.placed})
    energy->value = in.amount();
  check_zone(zone);
  zone.since = Realtime(in.amount());
  return zone;
}

void put(ByteWriter& out, const SavedReading& reading) {
  out.text(reading.zone);
  out.number(reading.counter.value);
  out.number(reading.monotonic.count());
  out.number(reading.boottime.count());
}

SavedReading get_reading(ByteReader& in) {
  SavedReading reading;
  reading.zone = in.text();
  reading.counter.value = in.amount();
  reading.monotonic = Nanoseconds(in.amount());
  reading.boottime = Nanoseconds(in.amount());
  return reading;
}

}  // namespace keplerd
