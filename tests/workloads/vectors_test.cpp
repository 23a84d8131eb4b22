// SPDX-License-Identifier: Apache-2.0
// Kepler's classification of cgroups and processes (tests/vectors/kepler.json), and where keplerd differs.
#include "support/vectors.h"

#include <gtest/gtest.h>

#include "workloads/cgroup_workload.h"
#include "workloads/command_line.h"

namespace keplerd {
namespace {

using nlohmann::json;

// Runtime and id of the innermost container around `path`; "unknown" and "" if there is none.
std::pair<std::string, std::string> container_of(const std::string& path) {
  const auto chain = enclosing_workloads(path);
  for (auto entry = chain.rbegin(); entry != chain.rend(); ++entry) {
    const CgroupWorkload& workload = entry->workload;
    if (workload.kind == CgroupKind::kContainer) return {std::string(workload.runtime), workload.id};
  }
  return {"unknown", ""};
}

std::pair<std::string, std::string> container_of(const json& entry) {
  return container_of(entry["cgroup_paths"][0].get<std::string>());
}

std::optional<VmCommand> vm_of(const json& entry) {
  const auto argv = entry["argv"].get<std::vector<std::string>>();
  const std::vector<std::string_view> words(argv.begin(), argv.end());
  return recognise_vm({.words = words});
}

TEST(KeplerVectors, CgroupToContainer) {
  for (const json& entry : kepler_vectors()["cgroup_to_container"]) {
    SCOPED_TRACE(entry["case"]);
    EXPECT_EQ(container_of(entry),
              std::pair(entry["runtime"].get<std::string>(), entry["container_id"].get<std::string>()));
  }
}

TEST(KeplerVectors, CgroupToContainerWhereKeplerIsWrong) {
  std::vector<std::pair<std::string, std::string>> found;
  for (const json& entry : kepler_vectors()["cgroup_to_container_where_kepler_is_wrong"])
    found.push_back(container_of(entry));
  const json& nested = kepler_vectors()["cgroup_to_container_where_kepler_is_wrong"][0];
  const std::vector<std::pair<std::string, std::string>> wanted = {
      {"docker", nested["kepler_container_id"].get<std::string>()}, {"lxc", "web01"}, {"nspawn", "f40"}};
  EXPECT_EQ(found, wanted);
}

TEST(KeplerVectors, CgroupToMachine) {
  for (const json& entry : kepler_vectors()["cgroup_to_vm_v0_9"]) {
    const std::string path = entry["cgroup_file"];
    const auto chain = enclosing_workloads(path);
    ASSERT_EQ(chain.size(), 1u);
    EXPECT_EQ(chain[0].workload.kind, CgroupKind::kVirtualMachine);
    EXPECT_EQ(chain[0].workload.name, entry["libvirt_domain"]);
    EXPECT_EQ(chain[0].workload.vm_number, "6");
  }
}

// keplerd's ids are not derived from names: what Kepler calls the id is compared only if it is a UUID, or
// Xen's domain. A name is made up only from a UUID.
TEST(KeplerVectors, CommandLineToMachine) {
  for (const json& entry : kepler_vectors()["cmdline_to_vm"]) {
    SCOPED_TRACE(entry["case"]);
    const auto vm = vm_of(entry);
    const std::string hypervisor = entry["hypervisor"];
    EXPECT_EQ(vm ? hypervisor_name(vm->hypervisor) : "unknown", hypervisor);
    if (!vm) continue;
    const std::string id = entry["vm_id"];
    const std::string name = entry["vm_name"];
    EXPECT_EQ(vm->uuid, id.size() == 36 ? id : "");
    EXPECT_EQ(vm->number, hypervisor == "xen" ? id : "");
    EXPECT_EQ(vm->guest_elsewhere, hypervisor == "xen");
    EXPECT_EQ(vm->name, name == "kvm-2f757372" ? "" : name);
    EXPECT_EQ(vm->name_given, !name.starts_with("kvm-"));
  }
}

TEST(KeplerVectors, CommandLineToMachineWhereKeplerIsWrong) {
  const json& entries = kepler_vectors()["cmdline_to_vm_where_kepler_is_wrong"];
  ASSERT_EQ(entries.size(), 4u);
  const auto proxmox = vm_of(entries[0]);
  ASSERT_TRUE(proxmox);
  EXPECT_EQ(proxmox->name, "some-vm-name");
  EXPECT_EQ(proxmox->number, "109");
  EXPECT_EQ(proxmox->uuid, "11111111-2222-3333-4444-555555555555");
  const auto nameless = vm_of(entries[1]);
  ASSERT_TRUE(nameless);
  EXPECT_EQ(nameless->name, "");
  EXPECT_EQ(nameless->uuid, "");
  EXPECT_FALSE(vm_of(entries[2]));
  const auto firecracker = vm_of(entries[3]);
  ASSERT_TRUE(firecracker);
  EXPECT_EQ(firecracker->name, "x");
}

}  // namespace
}  // namespace keplerd
