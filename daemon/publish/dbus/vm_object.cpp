// SPDX-License-Identifier: Apache-2.0
#include "daemon/publish/dbus/vm_object.h"

#include <algorithm>
#include <tuple>

#include "daemon/publish/dbus/object_path.h"

namespace keplerd::dbus {
namespace {

auto what_it_is(const VmInfo& info) {
  return std::tie(info.name, info.hypervisor, info.uuid, info.pid, info.vcpus, info.unit, info.container,
                  info.title, info.guest_state, info.metadata, info.guest_elsewhere);
}

}  // namespace

VmObject::VmObject(sdbus::IConnection& connection, Request& request, const VmRow& row)
    : AdaptorInterfaces(connection, sdbus::ObjectPath(object_path(kVmPrefix, row.info->id))),
      request_(request),
      info_(*row.info),
      running_(row.running),
      owner_(row.owner) {
  registerAdaptor();
}

VmObject::~VmObject() { unregisterAdaptor(); }

void VmObject::emit_changes(const VmRow& row) {
  if (row.running == running_ && row.owner == owner_ && what_it_is(*row.info) == what_it_is(info_)) return;
  info_ = *row.info;
  running_ = row.running;
  owner_ = row.owner;
  std::vector<PropertyName> names;
  for (const char* const name : {"Name", "State", "Hypervisor", "Uuid", "Pid", "VCPUs", "Unit", "ContainerId",
                                 "OwnerUID", "Title", "GuestState", "Metadata", "GuestElsewhere"})
    names.emplace_back(name);
  getObject().emitPropertiesChangedSignal(kVmInterface, names);
}

const VmRow& VmObject::row() {
  const auto& vms = (*request_).vms;
  const auto found = std::ranges::lower_bound(
      vms, info_.id, {}, [](const VmRow& row) -> const std::string& { return row.info->id; });
  if (found == vms.end() || found->info->id != info_.id) throw request_.unknown_object();
  return *found;
}

std::string VmObject::Id() {
  return of_row([](const VmRow& row) { return row.info->id; });
}
std::string VmObject::Name() {
  return of_row([](const VmRow& row) { return row.info->name; });
}
std::string VmObject::State() {
  return of_row([](const VmRow& row) { return std::string(state_name(row.running)); });
}
std::string VmObject::Hypervisor() {
  return of_row([](const VmRow& row) { return row.info->hypervisor; });
}
std::string VmObject::Uuid() {
  return of_row([](const VmRow& row) { return row.info->uuid.value_or(""); });
}
std::uint32_t VmObject::Pid() {
  return of_row([](const VmRow& row) { return static_cast<std::uint32_t>(row.info->pid); });
}
std::uint32_t VmObject::VCPUs() {
  return of_row([](const VmRow& row) { return static_cast<std::uint32_t>(row.info->vcpus.value_or(0)); });
}
std::string VmObject::Unit() {
  return of_row([](const VmRow& row) { return row.info->unit.value_or(""); });
}
std::string VmObject::ContainerId() {
  return of_row([](const VmRow& row) { return row.info->container.value_or(""); });
}
std::uint32_t VmObject::OwnerUID() {
  return of_row([](const VmRow& row) { return row.owner.value_or(UINT32_MAX); });
}
std::string VmObject::Title() {
  return of_row([](const VmRow& row) { return row.info->title; });
}
std::string VmObject::GuestState() {
  return of_row([](const VmRow& row) { return row.info->guest_state; });
}
std::map<std::string, std::string> VmObject::Metadata() {
  return of_row([](const VmRow& row) { return metadata_of(row); });
}
std::uint64_t VmObject::HaltPollUSec() {
  return of_row([](const VmRow& row) { return row.halt_polling ? usec(*row.halt_polling) : kUnknown; });
}
bool VmObject::GuestElsewhere() {
  return of_row([](const VmRow& row) { return row.info->guest_elsewhere; });
}
std::uint64_t VmObject::Energy() {
  return of_row([](const VmRow& row) { return number(row.active + row.idle); });
}
std::uint64_t VmObject::ActiveEnergy() {
  return of_row([](const VmRow& row) { return number(row.active); });
}
std::uint64_t VmObject::IdleEnergy() {
  return of_row([](const VmRow& row) { return number(row.idle); });
}
std::uint64_t VmObject::Power() {
  return of_row([](const VmRow& row) { return number(row.power); });
}
std::uint64_t VmObject::CPUUSec() {
  return of_row([](const VmRow& row) { return usec(row.cpu); });
}
std::vector<ZonePart> VmObject::Zones() {
  return of_row([this](const VmRow& row) { return zone_parts(*request_, row); });
}
std::vector<VmPartNumbers> VmObject::Breakdown() {
  return of_row([](const VmRow& row) { return vm_parts(row); });
}
std::string VmObject::Quality() {
  return of_row([this](const VmRow&) { return std::string(quality_name((*request_).workload_quality)); });
}
std::uint64_t VmObject::SinceUSec() {
  return of_row([](const VmRow& row) { return number(row.since); });
}

}  // namespace keplerd::dbus
