// SPDX-License-Identifier: Apache-2.0
#include "daemon/publish/dbus/machine_object.h"

#include <algorithm>
#include <tuple>

#include "daemon/publish/dbus/object_path.h"

namespace keplerd::dbus {
namespace {

auto what_it_is(const MachineInfo& info) {
  return std::tie(info.name, info.hypervisor, info.uuid, info.pid, info.vcpus, info.unit, info.container,
                  info.title, info.guest_state, info.metadata, info.guest_elsewhere);
}

}  // namespace

MachineObject::MachineObject(sdbus::IConnection& connection, Turn& turn, const MachineRow& row)
    : AdaptorInterfaces(connection, sdbus::ObjectPath(object_path(kMachinePrefix, row.info->id))),
      turn_(turn),
      info_(*row.info),
      running_(row.running),
      owner_(row.owner) {
  registerAdaptor();
}

MachineObject::~MachineObject() { unregisterAdaptor(); }

void MachineObject::tell_changes(const MachineRow& row) {
  if (row.running == running_ && row.owner == owner_ && what_it_is(*row.info) == what_it_is(info_)) return;
  info_ = *row.info;
  running_ = row.running;
  owner_ = row.owner;
  std::vector<PropertyName> names;
  for (const char* const name : {"Name", "State", "Hypervisor", "Uuid", "Pid", "VCPUs", "Unit", "ContainerId",
                                 "OwnerUID", "Title", "GuestState", "Metadata", "GuestElsewhere"})
    names.emplace_back(name);
  getObject().emitPropertiesChangedSignal(kMachineInterface, names);
}

const MachineRow& MachineObject::row() {
  const auto& machines = (*turn_).machines;
  const auto found = std::ranges::lower_bound(
      machines, info_.id, {}, [](const MachineRow& row) -> const std::string& { return row.info->id; });
  if (found == machines.end() || found->info->id != info_.id) throw turn_.unknown_object();
  return *found;
}

std::string MachineObject::Id() {
  return of_row([](const MachineRow& row) { return row.info->id; });
}
std::string MachineObject::Name() {
  return of_row([](const MachineRow& row) { return row.info->name; });
}
std::string MachineObject::State() {
  return of_row([](const MachineRow& row) { return std::string(state_name(row.running)); });
}
std::string MachineObject::Hypervisor() {
  return of_row([](const MachineRow& row) { return row.info->hypervisor; });
}
std::string MachineObject::Uuid() {
  return of_row([](const MachineRow& row) { return row.info->uuid.value_or(""); });
}
std::uint32_t MachineObject::Pid() {
  return of_row([](const MachineRow& row) { return static_cast<std::uint32_t>(row.info->pid); });
}
std::uint32_t MachineObject::VCPUs() {
  return of_row(
      [](const MachineRow& row) { return static_cast<std::uint32_t>(row.info->vcpus.value_or(0)); });
}
std::string MachineObject::Unit() {
  return of_row([](const MachineRow& row) { return row.info->unit.value_or(""); });
}
std::string MachineObject::ContainerId() {
  return of_row([](const MachineRow& row) { return row.info->container.value_or(""); });
}
std::uint32_t MachineObject::OwnerUID() {
  return of_row([](const MachineRow& row) { return row.owner.value_or(UINT32_MAX); });
}
std::string MachineObject::Title() {
  return of_row([](const MachineRow& row) { return row.info->title; });
}
std::string MachineObject::GuestState() {
  return of_row([](const MachineRow& row) { return row.info->guest_state; });
}
std::map<std::string, std::string> MachineObject::Metadata() {
  return of_row([](const MachineRow& row) { return metadata_of(row); });
}
std::uint64_t MachineObject::HaltPollUSec() {
  return of_row([](const MachineRow& row) { return row.halt_polling ? usec(*row.halt_polling) : kUnknown; });
}
bool MachineObject::GuestElsewhere() {
  return of_row([](const MachineRow& row) { return row.info->guest_elsewhere; });
}
std::uint64_t MachineObject::Energy() {
  return of_row([](const MachineRow& row) { return number(row.active + row.idle); });
}
std::uint64_t MachineObject::ActiveEnergy() {
  return of_row([](const MachineRow& row) { return number(row.active); });
}
std::uint64_t MachineObject::IdleEnergy() {
  return of_row([](const MachineRow& row) { return number(row.idle); });
}
std::uint64_t MachineObject::Power() {
  return of_row([](const MachineRow& row) { return number(row.power); });
}
std::uint64_t MachineObject::CPUUSec() {
  return of_row([](const MachineRow& row) { return usec(row.cpu); });
}
std::vector<ZonePart> MachineObject::Zones() {
  return of_row([this](const MachineRow& row) { return zone_parts(*turn_, row); });
}
std::vector<MachinePartNumbers> MachineObject::Breakdown() {
  return of_row([](const MachineRow& row) { return machine_parts(row); });
}
std::string MachineObject::Quality() {
  return of_row([this](const MachineRow&) { return std::string(quality_name((*turn_).workload_quality)); });
}
std::uint64_t MachineObject::SinceUSec() {
  return of_row([](const MachineRow& row) { return number(row.since); });
}

}  // namespace keplerd::dbus
