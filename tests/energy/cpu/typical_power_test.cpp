// SPDX-License-Identifier: Apache-2.0
// What processors typically draw, from /proc/cpuinfo as kernels write it.
#include "energy/cpu/typical_power.h"

#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "energy/select_source.h"
#include "support/fake_host.h"

namespace keplerd {
namespace {

struct X86 {
  const char* vendor = "GenuineIntel";
  int family = 6, model = 106;
  const char* name = "Intel(R) Xeon(R) Platinum 8380 CPU @ 2.30GHz";
  int siblings = 80, cores = 40;
  const char* flags = "fpu vme sse2 ht avx512f";
};

std::string cpuinfo(const X86& cpu) {
  return fmt::format(
      "processor\t: 0\nvendor_id\t: {}\ncpu family\t: {}\nmodel\t\t: {}\nmodel name\t: {}\nstepping\t: 6\n"
      "microcode\t: 0xd0003d1\ncpu MHz\t\t: 2300.000\ncache size\t: 61440 KB\nphysical id\t: 0\nsiblings\t: "
      "{}\n"
      "core id\t\t: 0\ncpu cores\t: {}\napicid\t\t: 0\nflags\t\t: {}\nbugs\t\t: spectre_v1\n\n"
      "processor\t: 1\nvendor_id\t: Other\nmodel\t\t: 1\n",
      cpu.vendor, cpu.family, cpu.model, cpu.name, cpu.siblings, cpu.cores, cpu.flags);
}

std::string arm_cpuinfo(const char* implementer, const char* part) {
  return fmt::format(
      "processor\t: 0\nBogoMIPS\t: 50.00\nFeatures\t: fp asimd evtstrm aes\nCPU implementer\t: {}\n"
      "CPU architecture: 8\nCPU variant\t: 0x3\nCPU part\t: {}\nCPU revision\t: 1\n\n",
      implementer, part);
}

std::optional<TypicalPower> typical(const std::string& text, int threads) {
  return typical_power(parse_processor_identity(text), threads);
}

// "Intel Ice Lake-SP, 40 cores: 54 to 271 W"
std::string text(const std::string& info, int threads) {
  const auto power = typical(info, threads);
  if (!power) return "";
  const auto watts = [](Microwatts of) { return std::lround(static_cast<double>(of.value) / 1e6); };
  return fmt::format("{}, {} cores: {} to {} W", power->processors, power->cores, watts(power->idle),
                     watts(power->max));
}

TEST(TypicalPower, IsOfAllPackagesAndCores) {
  EXPECT_EQ(text(cpuinfo({}), 80), "Intel Ice Lake-SP, 40 cores: 54 to 271 W");
  EXPECT_EQ(text(cpuinfo({}), 160), "Intel Ice Lake-SP, 80 cores: 108 to 542 W");
  EXPECT_EQ(text(cpuinfo({.siblings = 40}), 40), "Intel Ice Lake-SP, 40 cores: 54 to 271 W")
      << "without hyperthreads";
  EXPECT_EQ(text(cpuinfo({}), 79), "Intel Ice Lake-SP, 40 cores: 54 to 271 W") << "one is offline";
}

// Against the thermal design power that the vendors state.
TEST(TypicalPower, IsNearTheDesignPowerOfItsModels) {
  struct Known {
    X86 cpu;
    double watts;
  };
  const auto intel = [](int model, int cores) {
    return X86{.model = model, .name = "Intel(R)", .siblings = 2 * cores, .cores = cores};
  };
  const auto amd = [](int family, int model, const char* name, int cores) {
    return X86{"AuthenticAMD", family, model, name, 2 * cores, cores};
  };
  for (const auto& [cpu, watts] :
       std::initializer_list<Known>{{intel(63, 12), 120},
                                    {intel(63, 18), 145},
                                    {intel(79, 14), 120},
                                    {intel(79, 22), 145},
                                    {intel(85, 8), 85},
                                    {intel(85, 20), 150},
                                    {intel(85, 28), 205},
                                    {intel(106, 12), 120},
                                    {intel(106, 28), 205},
                                    {intel(106, 40), 270},
                                    {intel(143, 12), 150},
                                    {intel(143, 32), 270},
                                    {intel(143, 60), 350},
                                    {intel(207, 12), 150},
                                    {intel(207, 32), 270},
                                    {intel(207, 64), 350},
                                    {intel(173, 128), 500},
                                    {intel(94, 4), 65},
                                    {intel(158, 6), 65},
                                    {intel(158, 8), 95},
                                    {intel(165, 6), 65},
                                    {intel(165, 10), 125},
                                    {intel(151, 16), 125},
                                    {intel(183, 10), 65},
                                    {intel(183, 24), 125},
                                    {intel(141, 8), 45},
                                    {amd(23, 1, "AMD EPYC 7601 32-Core Processor", 32), 180},
                                    {amd(23, 49, "AMD EPYC 7742 64-Core Processor", 64), 225},
                                    {amd(23, 49, "AMD EPYC 7302 16-Core Processor", 16), 155},
                                    {amd(25, 1, "AMD EPYC 7763 64-Core Processor", 64), 280},
                                    {amd(25, 1, "AMD EPYC 7313 16-Core Processor", 16), 155},
                                    {amd(25, 17, "AMD EPYC 9654 96-Core Processor", 96), 360},
                                    {amd(25, 17, "AMD EPYC 9124 16-Core Processor", 16), 200},
                                    {amd(25, 160, "AMD EPYC 9754 128-Core Processor", 128), 360},
                                    {amd(26, 2, "AMD EPYC 9755 128-Core Processor", 128), 500},
                                    {amd(23, 113, "AMD Ryzen 9 3900X 12-Core Processor", 12), 105},
                                    {amd(25, 33, "AMD Ryzen 5 5600X 6-Core Processor", 6), 65},
                                    {amd(25, 97, "AMD Ryzen 9 7950X 16-Core Processor", 16), 170}}) {
    const auto power = typical(cpuinfo(cpu), cpu.siblings);
    ASSERT_TRUE(power) << cpu.model;
    EXPECT_NEAR(static_cast<double>(power->max.value) / 1e6, watts, 0.15 * watts) << cpu.name << cpu.model;
    EXPECT_LT(power->idle, power->max);
    EXPECT_GT(power->idle, Microwatts{});
  }
}

TEST(TypicalPower, OfProcessorsWithTheSameNumberIsByName) {
  const auto named = [](const char* name) { return text(cpuinfo({"AuthenticAMD", 23, 1, name, 16, 8}), 16); };
  EXPECT_EQ(named("AMD EPYC 7251 8-Core Processor"), "AMD EPYC 7001, 8 cores: 22 to 112 W");
  EXPECT_EQ(named("AMD Ryzen 7 1800X Eight-Core Processor"), "AMD Ryzen 1000, 8 cores: 13 to 86 W");
  EXPECT_EQ(named("Another"), "");
}

// A cloud instance: a package's other cores run something else.
TEST(TypicalPower, InAVirtualMachineIsThatOfItsCores) {
  EXPECT_EQ(text(cpuinfo({.siblings = 4, .cores = 2, .flags = "fpu hypervisor ht"}), 4),
            "Intel Ice Lake-SP, 2 cores: 3 to 14 W");
  EXPECT_EQ(text(cpuinfo({.siblings = 1, .cores = 1, .flags = "fpu hypervisor"}), 1),
            "Intel Ice Lake-SP, 1 cores: 1 to 7 W");
}

TEST(TypicalPower, OfArmProcessorsIsByImplementerAndPart) {
  EXPECT_EQ(text(arm_cpuinfo("0x41", "0xd0c"), 80), "Arm Neoverse N1, 80 cores: 49 to 246 W");
  EXPECT_EQ(text(arm_cpuinfo("0x41", "0xd0c"), 4), "Arm Neoverse N1, 4 cores: 2 to 12 W");
  EXPECT_EQ(text(arm_cpuinfo("0x41", "0xd4f"), 144), "Arm Neoverse V2, 144 cores: 100 to 501 W");
  EXPECT_EQ(text(arm_cpuinfo("0x41", "0xd08"), 4), "") << "a Cortex-A72";
  EXPECT_EQ(text(arm_cpuinfo("0x41", "0xgg"), 4), "");
}

TEST(TypicalPower, OfUnknownProcessorsIsNotGuessed) {
  EXPECT_EQ(text(cpuinfo({.model = 999}), 80), "");
  EXPECT_EQ(text(cpuinfo({.vendor = "AuthenticAMD"}), 80), "");
  EXPECT_EQ(text(cpuinfo({.vendor = "CentaurHauls"}), 80), "");
  EXPECT_EQ(text("", 80), "");
  EXPECT_EQ(text(cpuinfo({}), 0), "");
  EXPECT_EQ(text(cpuinfo({.siblings = 0, .cores = 0}), 40), "Intel Ice Lake-SP, 40 cores: 54 to 271 W")
      << "a kernel without SMP";
}

class TypicalSource : public testing::Test {
 protected:
  TypicalSource() {
    host.set_stat({.user = 10, .idle = 90});
    host.write("proc/cpuinfo", cpuinfo({}));
    host.write("sys/devices/system/cpu/online", "0-79\n");
  }
  Result<std::unique_ptr<EnergySource>> open(std::optional<Microwatts> idle, std::optional<Microwatts> max) {
    return select_source(host.open(), {.source = "estimated", .idle_power = idle, .max_power = max});
  }
  std::string reason(std::optional<Microwatts> idle, std::optional<Microwatts> max) {
    const auto source = open(idle, max);
    return std::string(source ? (*source)->zones().at(0).quality_reason
                              : std::string_view(source.error().message));
  }
  FakeHost host;
};

TEST_F(TypicalSource, TakesWhatIsNotSetFromTheProcessor) {
  EXPECT_EQ(
      reason({}, {}),
      "typical of Intel Ice Lake-SP with 40 cores: 54 W idle, 271 W if fully busy; the error may be 40 % or "
      "more");
  EXPECT_EQ(
      reason(Microwatts{60'000'000}, {}),
      "typical of Intel Ice Lake-SP with 40 cores: 60 W idle, 271 W if fully busy; the error may be 40 % or "
      "more");
  EXPECT_EQ(
      reason({}, Microwatts{500'000'000}),
      "typical of Intel Ice Lake-SP with 40 cores: 100 W idle, 500 W if fully busy; the error may be 40 % or "
      "more");
  EXPECT_EQ(reason(Microwatts{60'000'000}, Microwatts{400'000'000}), "") << "typed values are all there is";
  EXPECT_EQ(reason(Microwatts{300'000'000}, {}),
            "estimated: IdleWatts= is more than this processor draws: set MaxWatts=, too");
}

TEST_F(TypicalSource, CountsIt) {
  const auto source = open({}, {});
  ASSERT_TRUE(source);
  ZoneReadings readings;
  host.set_stat({.user = 110, .idle = 90});
  (*source)->read(std::chrono::seconds(1), readings);
  EXPECT_EQ(*readings.at(0), Microjoules{271'000'000}) << "a second, fully busy";
}

TEST_F(TypicalSource, OfAnUnknownProcessorIsNone) {
  host.write("proc/cpuinfo", cpuinfo({.model = 1}));
  EXPECT_EQ(reason({}, {}),
            "estimated: IdleWatts= and MaxWatts= are not set, and what this processor typically draws is not "
            "known");
  EXPECT_EQ(reason({}, Microwatts{500'000'000}), reason({}, {}));
  EXPECT_EQ(reason(Microwatts{60'000'000}, Microwatts{400'000'000}), "");
}

TEST_F(TypicalSource, IsNeverSelectedByAuto) { EXPECT_FALSE(select_source(host.open(), {})); }

}  // namespace
}  // namespace keplerd
