// SPDX-License-Identifier: Apache-2.0
#include "usage/cpu_ticks.h"

#include <gtest/gtest.h>

#include "host/stat_file.h"
#include "support/fake_host.h"

namespace keplerd {
namespace {

void expect_ticks(const Result<CpuFields>& fields, std::int64_t busy, std::int64_t idle,
                  std::int64_t interrupts) {
  ASSERT_TRUE(fields) << fields.error().message;
  const CpuTicks ticks = add_up(*fields);
  EXPECT_EQ(ticks.busy, busy);
  EXPECT_EQ(ticks.idle, idle);
  EXPECT_EQ(ticks.interrupts, interrupts);
}

TEST(CpuTicks, CountEverythingButIdleAndIowaitAsBusy) {
  expect_ticks(parse_cpu_fields("cpu  1 2 4 8 16 32 64 128 256 512\ncpu0 9 9 9 9 9 9 9 9 9 9\nintr 5\n"),
               1 + 2 + 4 + 32 + 64 + 128, 8 + 16, 32 + 64);
}

TEST(CpuTicks, FirstLineAloneIsEnough) { expect_ticks(parse_cpu_fields("cpu 1 0 0 5 0 0 0 0"), 1, 5, 0); }

TEST(CpuTicks, FieldsThatOldKernelsLackAreZero) { expect_ticks(parse_cpu_fields("cpu  1 2 4 8\n"), 7, 8, 0); }

TEST(CpuTicks, FieldsOfKernelsToComeAreIgnored) {
  expect_ticks(parse_cpu_fields("cpu  1 2 4 8 0 0 0 0 0 0 77 x\n"), 7, 8, 0);
}

TEST(CpuTicks, MalformedLineIsAnError) {
  for (const char* text :
       {"", "\n", "cpu\n", "cpu  1 2 3\n", "cpu0 1 2 3 4\n", "cpux 1 2 3 4\n", "intr 1 2 3 4\n",
        "cpu  1 2 -3 4\n", "cpu  1 2 3 a\n", "cpu  1 2 3 4 5 x\n", "cpu  1 2 3 4.5\n",
        "cpu  99999999999999999999 2 3 4\n", "cpu  36028797018963969 2 3 4\n"}) {
    EXPECT_FALSE(parse_cpu_fields(text)) << text;
  }
}

TEST(CpuTicks, LargestFieldsDoNotOverflow) {
  const auto fields = parse_cpu_fields(
      "cpu  36028797018963968 36028797018963968 36028797018963968 36028797018963968 36028797018963968 "
      "36028797018963968 36028797018963968 36028797018963968\n");
  expect_ticks(fields, 6 * (std::int64_t{1} << 55), 2 * (std::int64_t{1} << 55), 2 * (std::int64_t{1} << 55));
}

TEST(Forks, AreThoseOfTheLineOfProcesses) {
  EXPECT_EQ(parse_forks("cpu  1 2 4 8\nintr 5 0 0\nctxt 7\nbtime 3\nprocesses 71923\nprocs_running 1\n"),
            71923U);
}

TEST(Forks, AreUnknownWithoutIt) {
  for (const char* text :
       {"", "cpu  1 2 4 8\n", "processes 5\n", "cpu 1\nprocesses\n", "cpu 1\nprocesses x\n",
        "cpu 1\nprocesses -1\n", "cpu 1\nprocesses 99999999999999999999\n"}) {
    EXPECT_EQ(parse_forks(text), 0U) << text;
  }
}

TEST(CpuTicks, AreReadFromTheHost) {
  FakeHost fake;
  fake.set_stat(
      {.user = 5, .nice = 1, .system = 2, .idle = 10, .iowait = 3, .irq = 1, .softirq = 1, .steal = 1});
  const auto host = fake.open();
  StatFile stat(host.procfs());
  expect_ticks(parse_cpu_fields(*stat.read()), 11, 13, 2);
  fake.break_file("proc/stat");
  EXPECT_FALSE(stat.read());
}

TEST(CpuTicks, AreReadFromThisHost) {
  const auto host = HostRoot::open({});
  ASSERT_TRUE(host);
  StatFile file(host->procfs());
  const auto stat = file.read();
  ASSERT_TRUE(stat);
  const auto fields = parse_cpu_fields(*stat);
  ASSERT_TRUE(fields) << fields.error().message;
  EXPECT_GT(add_up(*fields).busy, 0);
  EXPECT_GT(parse_forks(*stat), 0U);
  std::vector<CpuLine> lines;
  parse_cpu_lines(*stat, lines);
  EXPECT_FALSE(lines.empty());
}

TEST(CpuLines, AreSortedAndThoseThatAreMalformedAreSkipped) {
  std::vector<CpuLine> lines{{7, {}}};
  parse_cpu_lines(
      "cpu  10 0 0 10\ncpu2 1 2 3 4 5 6 7 8\ncpu0 1 0 0 9\ncpu0 5 0 0 9\ncpu-1 1 1 1 1\ncpuX 1 1 1 1\n"
      "cpu3 1 1\ncpu8192 1 1 1 1\nintr 5\ncpu4 1 1 1 1\n",
      lines);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].number, 0);
  EXPECT_EQ(add_up(lines[0].fields).busy, 1);
  EXPECT_EQ(lines[1].number, 2);
  EXPECT_EQ(add_up(lines[1].fields).busy, 1 + 2 + 3 + 6 + 7 + 8);
  EXPECT_EQ(add_up(lines[1].fields).idle, 4 + 5);
}

}  // namespace
}  // namespace keplerd
