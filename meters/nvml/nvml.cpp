// SPDX-License-Identifier: Apache-2.0
#include "meters/nvml/nvml.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>

#include <dlfcn.h>

namespace keplerd::nvml {
namespace {

constexpr unsigned kMostCards = 64;
constexpr unsigned kMostSamples = 16'384;  // of a card
constexpr int kSuccess = 0;                // NVML_SUCCESS
constexpr int kNotSupported = 3;           // NVML_ERROR_NOT_SUPPORTED
constexpr int kNotFound = 6;               // NVML_ERROR_NOT_FOUND: there are no samples
constexpr int kTooSmall = 7;               // NVML_ERROR_INSUFFICIENT_SIZE

// nvmlPciInfo_t of nvmlDeviceGetPciInfo_v3.
struct PciInfo {
  std::array<char, 16> legacy_bus_id;
  unsigned domain, bus, device, device_id, subsystem_id;
  std::array<char, 32> bus_id;
};
static_assert(sizeof(PciInfo) == 68, "as the library has it");

// nvmlProcessUtilizationSample_t.
struct Utilization {
  unsigned pid;
  unsigned long long time;
  unsigned sm, memory, encoder, decoder;  // percent
};
static_assert(sizeof(Utilization) == 32, "as the library has it");

std::string text_of(const std::array<char, 32>& text) {
  return {text.begin(), std::find(text.begin(), text.end(), '\0')};
}

}  // namespace

struct Library::Functions {
  using Device = struct OpaqueDevice*;

  void* library = nullptr;
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*count)(unsigned*) = nullptr;
  int (*handle)(unsigned, Device*) = nullptr;
  int (*pci)(Device, PciInfo*) = nullptr;
  int (*energy)(Device, unsigned long long*) = nullptr;  // millijoules; missing in old libraries
  int (*power)(Device, unsigned*) = nullptr;             // milliwatts
  int (*utilization)(Device, Utilization*, unsigned*, unsigned long long) = nullptr;  // likewise
  std::map<std::string, std::uint64_t> last_samples;  // of each card, when its last sample was taken

  template <class Function>
  bool find(Function& function, const char* name) {
    function = reinterpret_cast<Function>(::dlsym(library, name));
    return function != nullptr;
  }

  bool find_all() {
    find(energy, "nvmlDeviceGetTotalEnergyConsumption");
    find(utilization, "nvmlDeviceGetProcessUtilization");
    return find(init, "nvmlInit_v2") && find(shutdown, "nvmlShutdown") &&
           find(count, "nvmlDeviceGetCount_v2") && find(handle, "nvmlDeviceGetHandleByIndex_v2") &&
           find(pci, "nvmlDeviceGetPciInfo_v3") && find(power, "nvmlDeviceGetPowerUsage");
  }

  bool read(Device device, Card& card) const {
    constexpr std::int64_t kMilli = 1000;
    constexpr auto kMost = static_cast<unsigned long long>(INT64_MAX / kMilli);
    unsigned long long energy_now = 0;
    card.counts_energy = energy != nullptr && energy(device, &energy_now) == kSuccess && energy_now <= kMost;
    if (card.counts_energy) {
      card.value = static_cast<std::int64_t>(energy_now) * kMilli;
      return true;
    }
    unsigned power_now = 0;
    if (power(device, &power_now) != kSuccess) return false;
    card.value = std::int64_t{power_now} * kMilli;
    return true;
  }

  // The samples that were taken later than `since`.
  Result<std::vector<ProcessSample>> read_processes(Device device, std::uint64_t since) const {
    if (utilization == nullptr) return Error{.message = "the driver is too old to report who uses the card"};
    std::vector<Utilization> samples;
    unsigned found = 0;
    int result = utilization(device, nullptr, &found, since);
    if (result == kTooSmall && found > 0) {
      found = std::min(found, kMostSamples);
      samples.resize(found);
      result = utilization(device, samples.data(), &found, since);
      samples.resize(std::min<std::size_t>(found, samples.size()));
    }
    if (result == kNotFound) samples.clear();
    if (result == kNotSupported)
      return Error{.message = "the card does not report who uses it, or is divided into instances (MIG)"};
    if (result != kSuccess && result != kNotFound)
      return Error{.message = "nvmlDeviceGetProcessUtilization fails with " + std::to_string(result)};
    std::vector<ProcessSample> processes;
    for (const Utilization& one : samples) {
      if (one.time <= since || one.pid == 0 || one.pid > INT32_MAX) continue;
      constexpr unsigned kAll = 100;
      const unsigned percent =
          std::min(one.sm, kAll) + std::min(one.encoder, kAll) + std::min(one.decoder, kAll);
      processes.push_back({static_cast<std::int32_t>(one.pid), one.time, percent});
    }
    return processes;
  }
};

Library::Library(std::unique_ptr<Functions> functions) : functions_(std::move(functions)) {}
Library::Library(Library&&) noexcept = default;

Library::~Library() {
  if (!functions_) return;
  functions_->shutdown();
  ::dlclose(functions_->library);
}

Result<Library> Library::open(const std::string& path) {
  auto functions = std::make_unique<Functions>();
  functions->library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (functions->library == nullptr) return Error{.message = ::dlerror()};
  if (!functions->find_all()) {
    ::dlclose(functions->library);
    return Error{.message = path + ": lacks a function"};
  }
  const int result = functions->init();
  if (result != kSuccess) {
    ::dlclose(functions->library);
    return Error{.message = path + ": nvmlInit_v2 fails with " + std::to_string(result)};
  }
  return Library(std::move(functions));
}

std::vector<Card> Library::read() const {
  std::vector<Card> cards;
  unsigned count = 0;
  if (functions_->count(&count) != kSuccess) return cards;
  for (unsigned i = 0; i < std::min(count, kMostCards); ++i) {
    Functions::Device device = nullptr;
    PciInfo pci{};
    Card card;
    if (functions_->handle(i, &device) != kSuccess || functions_->pci(device, &pci) != kSuccess) continue;
    if (!functions_->read(device, card)) continue;
    card.bus_id = text_of(pci.bus_id);
    const auto [last, is_new] = functions_->last_samples.try_emplace(card.bus_id, 0);
    card.processes = functions_->read_processes(device, last->second);
    if (card.processes) {
      for (const ProcessSample& sample : *card.processes) last->second = std::max(last->second, sample.time);
      if (is_new) card.processes->clear();
    }
    cards.push_back(std::move(card));
  }
  return cards;
}

}  // namespace keplerd::nvml
