// SPDX-License-Identifier: Apache-2.0
// keplerd-drm on written hosts: which descriptors it finds, what they cost, and what it states of each card.
#include "meters/drm/card_use.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/fake_host.h"

namespace keplerd::drm {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Lt;

constexpr char kCard[] = "0000:03:00.0", kOther[] = "0000:04:00.0";
constexpr char kFile[] = "pos:\t0\nflags:\t02100002\nmnt_id:\t26\nino:\t400\n";

class CardUseTest : public testing::Test {
 protected:
  void add_card(int number, const std::string& address, const std::string& driver) {
    const std::string card = "sys/class/drm/card" + std::to_string(number);
    fake_.write("sys/devices/" + address + "/uevent", "");
    fake_.link("sys/devices/" + address + "/driver", "../../bus/pci/drivers/" + driver);
    std::filesystem::create_directories(fake_.paths().sysfs + "/class/drm/card" + std::to_string(number));
    fake_.link(card + "/device", "../../../devices/" + address);
  }
  void add_process(int pid, int start = 100) {
    fake_.add_process({.pid = pid, .start = static_cast<std::uint64_t>(start)});
    std::filesystem::create_directories(fake_.paths().procfs + "/" + std::to_string(pid) + "/fdinfo");
  }
  // Another file than a card.
  void open(int pid, int descriptor) {
    fake_.write(fmt::format("proc/{}/fdinfo/{}", pid, descriptor), kFile);
  }
  // Milliseconds of the engine "gfx".
  void use(int pid, int descriptor, int client, int time, const std::string& address = kCard,
           const std::string& driver = "amdgpu") {
    fake_.write(
        fmt::format("proc/{}/fdinfo/{}", pid, descriptor),
        fmt::format("pos:\t0\ndrm-driver:\t{}\ndrm-pdev:\t{}\ndrm-client-id:\t{}\ndrm-engine-gfx:\t{} ns\n",
                    driver, address, client, time * 1'000'000LL));
  }
  std::map<std::string, std::string> read() { return use_.read(now_ += 1s); }
  // The lines of a card, without its time.
  std::string lines(const std::string& address = kCard) {
    const auto texts = read();
    const auto text = texts.find(address);
    return text == texts.end() ? "none" : text->second.substr(text->second.find('\n') + 1);
  }

  FakeHost fake_;
  HostRoot host_ = fake_.open();
  CardUse use_{host_};
  Nanoseconds now_ = 100s;
};

TEST_F(CardUseTest, StatesTheUseOfEachProcessOfEachCard) {
  add_card(0, kCard, "amdgpu");
  add_card(1, kOther, "i915");
  add_process(10);
  open(10, 5);
  use(10, 3, 1, 500);
  use(10, 4, 1, 100, kOther, "i915");
  EXPECT_EQ(lines(), "10 100 0\n");
  use(10, 3, 1, 700);
  use(10, 4, 1, 130, kOther, "i915");
  const auto texts = read();
  EXPECT_THAT(texts.at(kCard), HasSubstr("\n10 100 200000000\n"));
  EXPECT_THAT(texts.at(kOther), HasSubstr("\n10 100 30000000\n"));
}

TEST_F(CardUseTest, ANewProcessIsFoundWithinSecondsAndAllOfItsTimeCounts) {
  add_card(0, kCard, "amdgpu");
  read();
  add_process(20, 500);
  read();
  use(20, 3, 7, 250);
  read();
  EXPECT_EQ(lines(), "20 500 250000000\n");
}

TEST_F(CardUseTest, AnOldProcessThatOpensACardIsFoundWithinHalfAMinute) {
  add_card(0, kCard, "amdgpu");
  add_process(10);
  read();
  use(10, 3, 7, 250);
  for (int i = 0; i < 29; ++i) read();
  EXPECT_EQ(lines(), "10 100 250000000\n");
}

TEST_F(CardUseTest, AProcessThatEndedIsStillStated) {
  add_card(0, kCard, "amdgpu");
  add_process(10);
  use(10, 3, 1, 0);
  read();
  use(10, 3, 1, 40);
  read();
  std::filesystem::remove_all(fake_.paths().procfs + "/10");
  EXPECT_EQ(lines(), "10 100 40000000\n");
}

TEST_F(CardUseTest, APidThatIsUsedAgainIsAnotherProcess) {
  add_card(0, kCard, "amdgpu");
  add_process(10, 100);
  use(10, 3, 1, 0);
  read();
  use(10, 3, 1, 40);
  read();
  std::filesystem::remove_all(fake_.paths().procfs + "/10");
  read();
  add_process(10, 900);
  use(10, 3, 2, 60);
  EXPECT_EQ(lines(), "10 100 40000000\n10 900 60000000\n");
}

TEST_F(CardUseTest, WhereADriverDoesNotReportItTheUseIsUnknown) {
  add_card(0, kCard, "nouveau");
  add_card(1, kOther, "i915");
  EXPECT_EQ(read().at(kCard), "unknown the driver nouveau does not report how long processes use the card\n");
  EXPECT_EQ(lines(kOther), "") << "nobody uses it";
  add_process(10);
  fake_.write("proc/10/fdinfo/3", "drm-driver:\ti915\ndrm-pdev:\t0000:04:00.0\ndrm-client-id:\t1\n");
  read();
  EXPECT_THAT(read().at(kOther), HasSubstr("unknown the driver i915")) << "of an old generation";
}

TEST_F(CardUseTest, AmdsCardsComputeUnseen) {
  add_card(0, kCard, "amdgpu");
  add_card(1, kOther, "xe");
  add_process(10);
  fake_.write("sys/class/kfd/kfd/proc/10/pasid", "32769\n");
  const auto texts = read();
  EXPECT_THAT(texts.at(kCard), HasSubstr("unknown a program has opened /dev/kfd"));
  EXPECT_THAT(texts.at(kOther), testing::Not(HasSubstr("unknown")));
}

TEST_F(CardUseTest, ACardThatIsPassedThroughIsItsVmsWhole) {
  fake_.write("sys/bus/pci/devices/0000:03:00.0/class", "0x030000\n");
  fake_.write("sys/bus/pci/devices/0000:03:00.1/class", "0x040300\n");  // its sound
  add_process(42);
  for (int function : {0, 1})
    fake_.write(fmt::format("proc/42/fdinfo/{}", function),
                fmt::format("{}vfio-device-syspath: /sys/devices/pci0000:00/0000:00:01.1/0000:03:00.{}\n",
                            kFile, function));
  read();
  const auto texts = read();
  EXPECT_EQ(texts.size(), 1U);
  EXPECT_EQ(texts.at(kCard), "102000000\n42 100 1000000000\n");
}

TEST_F(CardUseTest, CostsLittleWhileTwentyOfTwoThousandProcessesHaveACard) {
  add_card(0, kCard, "amdgpu");
  for (int pid = 1; pid <= 2000; ++pid) {
    add_process(pid);
    for (int descriptor = 0; descriptor < 4; ++descriptor) open(pid, descriptor);
    if (pid % 100 == 0) use(pid, 4, pid, 10);
  }
  constexpr std::size_t kDescriptors = 2000 * 4 + 20, kProcesses = 2000;
  std::size_t cost = 0, most = 0;
  for (int i = 0; i < 3; ++i) {
    read();
    cost += use_.files().cost();
  }
  EXPECT_THAT(cost, Lt(3 * kProcesses + kDescriptors + 1'000)) << "all, at the start";
  for (int i = 0; i < 60; ++i) read();
  cost = 0;
  for (int i = 0; i < 300; ++i) {
    read();
    cost += use_.files().cost();
    most = std::max(most, use_.files().cost());
  }
  // The list of processes and twenty cards each time, and in thirty times the descriptors of each process.
  EXPECT_EQ(cost, 300U * (1 + 20) + 10 * (2 * kProcesses + kDescriptors));
  EXPECT_THAT(most, Lt(450U)) << "evenly";
}

TEST_F(CardUseTest, AProcessWithVeryManyDescriptorsDelaysOthersOnly) {
  add_card(0, kCard, "amdgpu");
  add_process(10);
  for (int descriptor = 0; descriptor < 3'001; ++descriptor) open(10, descriptor);
  add_process(12);
  use(12, 3, 1, 10);
  read();
  EXPECT_THAT(use_.files().cost(), Lt(3'100U));
  EXPECT_THAT(use_.files().clients(), IsEmpty());
  read();
  EXPECT_EQ(use_.files().clients().size(), 1U);
}

}  // namespace
}  // namespace keplerd::drm
