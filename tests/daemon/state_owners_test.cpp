// SPDX-License-Identifier: Apache-2.0
// A state saved before rows had owners, by the keplerd of that time
// (fixtures/states/without-owners.json).
#include "ledger/state_owners.h"

#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "ledger/ledger.h"
#include "support/vectors.h"

namespace keplerd {
namespace {

std::string hex(char c) { return std::string(64, c); }

class StateWithoutOwners : public testing::Test {
 protected:
  void SetUp() override {
    auto read = parse_state(fixture("states/without-owners.json"));
    ASSERT_TRUE(read.ok()) << read.error().message;
    state = *std::move(read);
  }
  const ContainerState& container(const std::string& id) {
    const auto found = std::ranges::find_if(state.containers, [&](const auto& c) { return c.info.id == id; });
    if (found == state.containers.end()) throw std::runtime_error("no container " + id);
    return *found;
  }

  LedgerState state;
};

TEST_F(StateWithoutOwners, AssignsAUsersSliceToThatUserAndAllElseToRoot) {
  const std::map<std::string, Uid> owners = {{hex('a'), 0},           {hex('a') + "/" + hex('b'), 0},
                                             {hex('c'), 0},           {"user-1000/" + hex('d'), 1000},
                                             {"user-1000/web", 1000}, {"user-1000/web/" + hex('e'), 1000},
                                             {hex('f'), 0},           {"1234-5678", 0}};
  EXPECT_EQ(state.containers.size(), owners.size());
  for (const auto& [id, owner] : owners) EXPECT_EQ(container(id).owner, owner) << id;
  for (const UnitState& unit : state.units)
    EXPECT_EQ(unit.owner, unit.id.starts_with("/user.slice/user-1000.slice") ? 1000U : 0U) << unit.id;
  EXPECT_EQ(container(hex('a')).info.name, "db");
  EXPECT_EQ(container("1234-5678").info.name, "cart");
  EXPECT_EQ(container(hex('c')).info.parent, "1234-5678");
  EXPECT_EQ(container(hex('c')).info.pod, "1234-5678");
  EXPECT_EQ(container(hex('a') + "/" + hex('b')).info.parent, hex('a'));
  EXPECT_EQ(container("user-1000/web/" + hex('e')).info.parent, "user-1000/web");
  EXPECT_EQ(container("user-1000/web").info.name, "web");
}

TEST_F(StateWithoutOwners, GivesVmsTheIdsThatTheirOwnersClaim) {
  std::map<std::string, Uid> owners;
  for (const VmState& vm : state.vms) owners[vm.info.id] = vm.owner.value();
  EXPECT_EQ(owners, (std::map<std::string, Uid>{{"2b9a43a1-5a5f-4cf0-9d3a-6a6f3a1d2c01", 0},
                                                {"user-1000/7f1c8b1e-0000-4000-8000-00000000000a", 1000},
                                                {hex('f') + "/7f1c8b1e-0000-4000-8000-00000000000b", 0}}));
  for (const VmState& vm : state.vms)
    EXPECT_EQ(vm.info.name == "vm-107", vm.info.id.find('/') == std::string::npos) << vm.info.id;
}

TEST_F(StateWithoutOwners, KeepsEveryMicrojouleAndIsWrittenWithOwners) {
  const Ledger ledger(state, "instance");
  const auto report = ledger.report();
  Microjoules containers;
  for (const ContainerRow& row : report->containers) containers += row.active;
  EXPECT_EQ(containers, Microjoules{8'800'000});
  const auto again = parse_state(format_state(state));
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(format_state(*again), format_state(state));
  EXPECT_EQ(again->containers.at(0).owner, state.containers.at(0).owner);
}

TEST_F(StateWithoutOwners, ForgetsNamesOfUsersContainersFromRootsFiles) {
  std::string text = fixture("states/without-owners.json");
  const auto name = text.find("dddddddddddd\"", text.find("\"name\":\"dddd"));
  ASSERT_NE(name, text.npos);
  text.replace(name, 12, "secret-db");
  const auto read = parse_state(text);
  ASSERT_TRUE(read.ok()) << read.error().message;
  state = *read;
  EXPECT_EQ(container("user-1000/" + hex('d')).info.name, std::string(12, 'd'));
}

}  // namespace
}  // namespace keplerd
