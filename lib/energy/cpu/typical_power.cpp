// SPDX-License-Identifier: Apache-2.0
#include "energy/cpu/typical_power.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "base/cpu_list.h"
#include "base/parse.h"
#include "energy/cpu/processor.h"
#include "host/cpuinfo.h"
#include "host/host_root.h"

namespace keplerd {
namespace {

constexpr std::size_t kPage = 4096;
constexpr int kMostThreads = 65536;

enum class Vendor { kIntel, kAmd, kArm };

// A family of processors. A package with n cores draws `package` + n * `core` watts if all are busy: a line
// through the thermal design power (Intel: "TDP" or "processor base power", AMD: "default TDP") of its
// smaller and larger models, which ark.intel.com, amd.com, amperecomputing.com and nvidia.com state. `cores`:
// those of a large model.
struct Family {
  Vendor vendor;
  int family, model;  // of ARM: implementer and part
  std::string_view name;
  double package, core;
  int cores;
  double idle;              // of the full power
  std::string_view word{};  // must be in the model name, where other processors have the same number
};

// The idle power of servers in SPECpower_ssj2008 results (www.spec.org/power_ssj2008/results) is, since 2014,
// about 15 % of the full power, and since 2020 about 20 %; hosts that were not tuned for the benchmark have
// more. Laptops and desktops are similar.
constexpr double kOlder = 0.15, kNewer = 0.20, kClient = 0.15;

// Models: arch/x86/include/asm/intel-family.h of the kernel; AMD's revision guides; Arm's MIDR_EL1.
constexpr Family kFamilies[] = {
    // Servers. Two or three models from which the line was made, with cores and watts.
    {Vendor::kIntel, 6, 63, "Intel Haswell-EP", 55, 5.2, 18,
     kOlder},  // E5-2620v3 6 85, 2680v3 12 120, 2699v3 18 145
    {Vendor::kIntel, 6, 79, "Intel Broadwell-EP", 50, 4.5, 22,
     kOlder},  // E5-2620v4 8 85, 2680v4 14 120, 2699v4 22 145
    {Vendor::kIntel, 6, 85, "Intel Skylake-SP or Cascade Lake-SP", 35, 6, 28,
     kOlder},  // 4110 8 85, 6148 20 150, 8280 28 205
    {Vendor::kIntel, 6, 106, "Intel Ice Lake-SP", 55, 5.4, 40,
     kNewer},  // 4310 12 120, 6330 28 205, 8380 40 270
    {Vendor::kIntel, 6, 143, "Intel Sapphire Rapids", 110, 4.3, 60,
     kNewer},  // 4410Y 12 150, 6430 32 270, 8490H 60 350
    {Vendor::kIntel, 6, 207, "Intel Emerald Rapids", 120, 3.8, 64,
     kNewer},  // 4510 12 150, 6530 32 270, 8592+ 64 350
    {Vendor::kIntel, 6, 173, "Intel Granite Rapids", 110, 3, 128, kNewer},  // 6980P 128 500
    {Vendor::kAmd, 23, 1, "AMD EPYC 7001", 90, 2.8, 32, kNewer, "EPYC"},    // 7251 8 120, 7601 32 180
    {Vendor::kAmd, 23, 49, "AMD EPYC 7002", 115, 1.8, 64, kNewer,
     "EPYC"},  // 7252 8 120, 7302 16 155, 7742 64 225
    {Vendor::kAmd, 25, 1, "AMD EPYC 7003", 110, 2.7, 64, kNewer,
     "EPYC"},  // 7313 16 155, 7543 32 225, 7763 64 280
    {Vendor::kAmd, 25, 17, "AMD EPYC 9004", 175, 1.9, 96, kNewer,
     "EPYC"},  // 9124 16 200, 9354 32 280, 9654 96 360
    {Vendor::kAmd, 25, 160, "AMD EPYC 97X4", 130, 1.8, 128, kNewer, "EPYC"},  // 9754 128 360
    {Vendor::kAmd, 26, 2, "AMD EPYC 9005", 200, 2.3, 128, kNewer, "EPYC"},    // 9355 32 280, 9755 128 500
    {Vendor::kArm, 0x41, 0xd0c, "Arm Neoverse N1", 30, 2.7, 80, kNewer},      // Ampere Altra Q80-33 80 250
    {Vendor::kArm, 0x41, 0xd4f, "Arm Neoverse V2", 20, 3.2, 72,
     kNewer},  // half of an NVIDIA Grace superchip: 144 500
    // Desktops and laptops.
    {Vendor::kIntel, 6, 78, "Intel Skylake (laptop)", 5, 5, 2, kClient},                   // i7-6600U 2 15
    {Vendor::kIntel, 6, 94, "Intel Skylake (desktop)", 25, 10, 4, kClient},                // i7-6700 4 65
    {Vendor::kIntel, 6, 142, "Intel Kaby Lake to Comet Lake (laptop)", 3, 3, 4, kClient},  // i7-8650U 4 15
    {Vendor::kIntel, 6, 158, "Intel Kaby Lake or Coffee Lake", 15, 9, 8,
     kClient},                                                              // i7-8700 6 65, i9-9900K 8 95
    {Vendor::kIntel, 6, 165, "Intel Comet Lake", 10, 10, 10, kClient},      // i5-10400 6 65, i9-10900K 10 125
    {Vendor::kIntel, 6, 126, "Intel Ice Lake (laptop)", 3, 3, 4, kClient},  // i7-1065G7 4 15
    {Vendor::kIntel, 6, 140, "Intel Tiger Lake", 4, 5, 4, kClient},         // i7-1165G7 4 28
    {Vendor::kIntel, 6, 141, "Intel Tiger Lake-H", 9, 4.5, 8, kClient},     // i7-11800H 8 45
    {Vendor::kIntel, 6, 151, "Intel Alder Lake (desktop)", 25, 6, 16,
     kClient},  // i5-12400 6 65, i9-12900K 16 125
    {Vendor::kIntel, 6, 154, "Intel Alder Lake (laptop)", 2, 2.4, 14,
     kClient},  // i7-1260P 12 28, i7-12700H 14 45
    {Vendor::kIntel, 6, 183, "Intel Raptor Lake (desktop)", 30, 4, 24,
     kClient},  // i5-13400 10 65, i9-13900K 24 125
    {Vendor::kIntel, 6, 186, "Intel Raptor Lake (laptop)", 2, 2.4, 14,
     kClient},  // i7-1360P 12 28, i7-13700H 14 45
    {Vendor::kIntel, 6, 191, "Intel Raptor Lake (desktop)", 30, 4, 24, kClient},  // likewise
    {Vendor::kAmd, 23, 1, "AMD Ryzen 1000", 30, 7, 8, kClient, "Ryzen"},          // 1700 8 65, 1800X 8 95
    {Vendor::kAmd, 23, 8, "AMD Ryzen 2000", 30, 7, 8, kClient, "Ryzen"},          // 2600 6 65, 2700X 8 105
    {Vendor::kAmd, 23, 113, "AMD Ryzen 3000", 20, 7, 16, kClient,
     "Ryzen"},  // 3600 6 65, 3900X 12 105, 3950X 16 105
    {Vendor::kAmd, 25, 33, "AMD Ryzen 5000", 45, 4.5, 16, kClient, "Ryzen"},  // 5600X 6 65, 5950X 16 105
    {Vendor::kAmd, 25, 97, "AMD Ryzen 7000", 45, 7.5, 16, kClient, "Ryzen"},  // 7600X 6 105, 7950X 16 170
    {Vendor::kAmd, 23, 96, "AMD Ryzen 4000 (laptop)", 4, 3, 8, kClient, "Ryzen"},   // 4800U 8 15, 4800H 8 45
    {Vendor::kAmd, 25, 80, "AMD Ryzen 5000 (laptop)", 4, 3, 8, kClient, "Ryzen"},   // 5800U 8 15, 5800H 8 45
    {Vendor::kAmd, 25, 68, "AMD Ryzen 6000 (laptop)", 4, 3, 8, kClient, "Ryzen"},   // 6800U 8 28
    {Vendor::kAmd, 25, 116, "AMD Ryzen 7040 (laptop)", 4, 3, 8, kClient, "Ryzen"},  // 7840U 8 28
};

bool is_of(const Family& family, const ProcessorIdentity& processor) {
  const bool is_arm = family.vendor == Vendor::kArm;
  if (is_arm != processor.vendor.empty()) return false;
  if (is_arm) return family.family == processor.implementer && family.model == processor.part;
  const std::string_view vendor = family.vendor == Vendor::kIntel ? "GenuineIntel" : "AuthenticAMD";
  return processor.vendor == vendor && family.family == processor.family && family.model == processor.model &&
         processor.name.find(family.word) != std::string_view::npos;
}

Microwatts watts(double power) { return {std::llround(power * 1e6)}; }

// Decimal, or hexadecimal with "0x" as on ARM; 0 if it is neither.
int number(std::string_view text) {
  constexpr std::string_view kHexadecimal = "0x";
  if (!text.starts_with(kHexadecimal)) return parse_number<int>(text).value_or(0);
  int value = 0;
  text.remove_prefix(kHexadecimal.size());
  if (text.size() > 6) return 0;
  for (const char c : text) {
    const auto digit = std::string_view("0123456789abcdef").find(c);
    if (digit == std::string_view::npos) return 0;
    value = value * 16 + static_cast<int>(digit);
  }
  return value;
}

}  // namespace

ProcessorIdentity parse_processor_identity(std::string_view cpuinfo) {
  ProcessorIdentity processor;
  processor.virtual_machine = parse_processor(cpuinfo).virtual_machine;
  const auto text = [cpuinfo](std::string_view name) { return cpuinfo_field(cpuinfo, name).value_or(""); };
  processor.vendor = text("vendor_id");
  processor.name = text("model name");
  processor.family = number(text("cpu family"));
  processor.model = number(text("model"));
  processor.package_threads = number(text("siblings"));
  processor.package_cores = number(text("cpu cores"));
  processor.implementer = number(text("CPU implementer"));
  processor.part = number(text("CPU part"));
  return processor;
}

std::optional<TypicalPower> typical_power(const ProcessorIdentity& processor, int threads) {
  const auto* const family =
      std::ranges::find_if(kFamilies, [&](const Family& candidate) { return is_of(candidate, processor); });
  if (family == std::end(kFamilies) || threads <= 0 || threads > kMostThreads) return std::nullopt;
  const bool is_known = processor.package_threads > 0 && processor.package_cores > 0 &&
                        processor.package_cores <= processor.package_threads;
  const double all = threads;
  const double of_package = is_known ? processor.package_threads : all;
  const double cores =
      is_known ? std::max(1.0, std::round(all * processor.package_cores / processor.package_threads)) : all;
  const bool by_cores = processor.virtual_machine || family->vendor == Vendor::kArm;
  const double packages = by_cores ? cores / family->cores : std::max(1.0, std::round(all / of_package));
  const double full = packages * family->package + cores * family->core;
  return TypicalPower{.processors = family->name,
                      .cores = static_cast<int>(cores),
                      .idle = watts(family->idle * full),
                      .max = watts(full)};
}

std::optional<TypicalPower> read_typical_power(const HostRoot& host) {
  std::array<char, kPage> list{};
  const auto online = read_file(host.sysfs(), "devices/system/cpu/online", list);
  const auto cpus = online ? parse_cpu_list(*online) : std::nullopt;
  if (!cpus) return std::nullopt;
  return typical_power(parse_processor_identity(read_cpuinfo(host)), static_cast<int>(cpus->size()));
}

}  // namespace keplerd
