// SPDX-License-Identifier: Apache-2.0
#include "workloads/machined_records.h"

#include <gtest/gtest.h>

#include "support/fake_host.h"

namespace keplerd {
namespace {

using namespace std::chrono_literals;

// As systemd 252 writes it.
std::string record(const std::string& name, const std::string& unit, const std::string& kind = "container") {
  return "# This is private data. Do not parse.\nNAME=" + name + "\nSCOPE=" + unit +
         "\nSERVICE=systemd-nspawn\nROOT=/srv/box\nID=0123456789abcdef0123456789abcdef\nLEADER=812\nCLASS=" +
         kind + "\nREALTIME=1794000000000000\nMONOTONIC=1000000\n";
}

TEST(MachinedRecord, NamesAMachineAndItsUnit) {
  const auto parsed = parse_machined_record(record("nsp", "nsp.service"));
  EXPECT_EQ(parsed, (MachinedRecord{"nsp", "nsp.service", "systemd-nspawn", true}));
  EXPECT_FALSE(parse_machined_record(record("vm", "vm.service", "vm"))->is_container);
  EXPECT_EQ(parse_machined_record(record("a-b", "machine-a\\\\x2db.scope"))->unit, "machine-a\\x2db.scope");
}

TEST(MachinedRecord, WithoutBothIsNone) {
  for (const char* const text : {"", "NAME=a\n", "SCOPE=a.service\n", "NAME=\nSCOPE=\n", "NAME\nSCOPE\n",
                                 "NAME=a/b\nSCOPE=a.service\n"})
    EXPECT_FALSE(parse_machined_record(text)) << text;
}

TEST(MachinedRecords, AreTheContainersThatAreThere) {
  FakeHost files;
  const HostRoot host = files.open();
  MachinedRecords records(host);
  records.refresh(0s);
  EXPECT_TRUE(records.containers().empty());
  files.write("root/run/systemd/machines/nsp", record("nsp", "nsp.service"));
  files.write("root/run/systemd/machines/vm", record("vm", "vm.service", "vm"));
  files.link("root/run/systemd/machines/unit:nsp.service", "nsp");
  records.refresh(1s);
  ASSERT_EQ(records.containers().size(), 1u);
  EXPECT_EQ(records.containers().at("nsp.service").name, "nsp");
  files.remove("root/run/systemd/machines/nsp");
  records.refresh(1900ms);
  EXPECT_EQ(records.containers().size(), 1u);
  records.refresh(2s);
  EXPECT_TRUE(records.containers().empty());
}

TEST(MachinedRecords, AreCheckedEveryTenSecondsIfNoneIsExpected) {
  FakeHost files;
  const HostRoot host = files.open();
  MachinedRecords records(host);
  records.refresh(0s, false);
  files.write("root/run/systemd/machines/nsp", record("nsp", "nsp.service"));
  records.refresh(9s, false);
  EXPECT_TRUE(records.containers().empty());
  records.refresh(10s, false);
  EXPECT_EQ(records.containers().size(), 1u);
  files.remove("root/run/systemd/machines/nsp");
  records.refresh(11s, true);
  EXPECT_TRUE(records.containers().empty());
}

}  // namespace
}  // namespace keplerd
