// SPDX-License-Identifier: Apache-2.0
#include "host/stat_file.h"

#include <array>
#include <string>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "support/fake_host.h"

namespace keplerd {
namespace {

TEST(StatFile, IsReadWholeOrItsBeginning) {
  FakeHost fake;
  const std::string text = "cpu 1 2 3\nintr " + std::string(200'000, '7') + "\n";
  fake.write("proc/stat", text);
  const auto host = fake.open();
  StatFile stat(host.procfs());
  std::array<char, 9> buffer{};
  EXPECT_EQ(*stat.read(), text);
  EXPECT_EQ(*stat.read_beginning(buffer), "cpu 1 2 3");
}

TEST(StatFile, ThatAppearsIsRead) {
  FakeHost fake;
  fake.remove("proc/stat");
  const auto host = fake.open();
  StatFile stat(host.procfs());
  EXPECT_FALSE(stat.read());
  fake.write("proc/stat", "cpu 1\n");
  EXPECT_EQ(*stat.read(), "cpu 1\n");
}

// The kernel's own is opened once.
TEST(StatFile, IsReadWithoutAFreeDescriptor) {
  const auto host = HostRoot::open({});
  ASSERT_TRUE(host);
  StatFile stat(host->procfs());
  ASSERT_TRUE(stat.read());
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  const rlimit none{.rlim_cur = 3, .rlim_max = limit.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  std::array<char, StatFile::kFirstLine> buffer{};
  const std::string whole(stat.read() ? *stat.read() : "");
  const std::string beginning(stat.read_beginning(buffer) ? std::string_view(buffer.data(), 4) : "");
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_TRUE(whole.starts_with("cpu ")) << whole.substr(0, 20);
  EXPECT_TRUE(whole.ends_with("\n"));
  EXPECT_EQ(beginning, "cpu ");
}

}  // namespace
}  // namespace keplerd
