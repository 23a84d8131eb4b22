// SPDX-License-Identifier: Apache-2.0
#include "meters/nvml/nvml.h"

#include <algorithm>
#include <array>
#include <cstring>

#include <dlfcn.h>

namespace keplerd::nvml {
namespace {

constexpr unsigned kMostCards = 64;
constexpr int kSuccess = 0;  // NVML_SUCCESS

// nvmlPciInfo_t of nvmlDeviceGetPciInfo_v3.
struct PciInfo {
  std::array<char, 16> legacy_bus_id;
  unsigned domain, bus, device, device_id, subsystem_id;
  std::array<char, 32> bus_id;
};
static_assert(sizeof(PciInfo) == 68, "as the library has it");

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

  template <class Function>
  bool find(Function& function, const char* name) {
    function = reinterpret_cast<Function>(::dlsym(library, name));
    return function != nullptr;
  }

  bool find_all() {
    find(energy, "nvmlDeviceGetTotalEnergyConsumption");
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
    cards.push_back(std::move(card));
  }
  return cards;
}

}  // namespace keplerd::nvml
