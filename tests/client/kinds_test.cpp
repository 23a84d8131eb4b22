// SPDX-License-Identifier: Apache-2.0
#include "client/kinds.h"

#include <gtest/gtest.h>

#include "report/row_kinds.h"

namespace keplerd::client {
namespace {

TEST(Kinds, EachIsAtItsIndex) {
  for (std::size_t i = 0; i < kKinds.size(); ++i) EXPECT_EQ(index_of(kKinds[i].kind), i);
  EXPECT_EQ(name_of(Kind::kVms), "vms");
  EXPECT_EQ(info_of(Kind::kZones).word, "zone");
}

TEST(Kinds, AreThoseOfTheDaemon) {
  for (const KindInfo& kind : kKinds) {
    const auto row_kind = parse_row_kind(kind.plural);
    ASSERT_TRUE(row_kind) << kind.plural;
    EXPECT_EQ(row_kind_names(*row_kind).plural, kind.plural);
    EXPECT_EQ(row_kind_names(*row_kind).singular, kind.singular);
    EXPECT_EQ(row_kind_names(*row_kind).no_such, kind.no_such);
  }
  EXPECT_EQ(static_cast<std::size_t>(RowKind::kZones) + 1, kKinds.size()) << "and there are no others";
}

TEST(Kinds, AreFoundByTheirNames) {
  EXPECT_EQ(find_kind("units")->kind, Kind::kUnits);
  EXPECT_EQ(find_kind("process")->kind, Kind::kProcesses);
  for (const char* word : {"vm", "vms", "virtual-machine", "virtual-machines"}) {
    ASSERT_NE(find_kind(word), nullptr) << word;
    EXPECT_EQ(find_kind(word)->kind, Kind::kVms) << word;
  }
  EXPECT_EQ(find_kind("container")->kind, Kind::kContainers);
  EXPECT_EQ(find_kind("pod")->kind, Kind::kPods);
  EXPECT_EQ(find_kind("guests"), nullptr);
  EXPECT_EQ(find_kind(""), nullptr);
}

TEST(Kinds, AreListedInWords) {
  EXPECT_EQ(kind_list(&KindInfo::word), "unit, virtual machine, container, pod, process or zone");
  EXPECT_EQ(kind_list(&KindInfo::plural), "units, vms, containers, pods, processes or zones");
}

}  // namespace
}  // namespace keplerd::client
