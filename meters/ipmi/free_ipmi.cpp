// SPDX-License-Identifier: Apache-2.0
#include "meters/ipmi/free_ipmi.h"

#include <array>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include <fmt/format.h>
#include <freeipmi/freeipmi.h>

#include "meters/ipmi/dcmi.h"

namespace keplerd::ipmi {
namespace {

constexpr std::size_t kMostSensors = 64;
constexpr double kMicro = 1e6, kMostWatts = 1e9;

struct Deleter {
  void operator()(ipmi_ctx_t context) const {
    ::ipmi_ctx_close(context);
    ::ipmi_ctx_destroy(context);
  }
  void operator()(ipmi_sdr_ctx_t context) const { ::ipmi_sdr_ctx_destroy(context); }
  void operator()(ipmi_sensor_read_ctx_t context) const { ::ipmi_sensor_read_ctx_destroy(context); }
};
template <class Context>
using Owner = std::unique_ptr<std::remove_pointer_t<Context>, Deleter>;

Error ipmi_error(std::string_view what, const char* why) {
  return {.message = fmt::format("{}: {}", what, why), .code = EIO};
}

// A directory of our own for the file of records that the library needs.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string path = std::filesystem::temp_directory_path() / "keplerd-ipmi-XXXXXX";
    if (::mkdtemp(path.data()) != nullptr) path_ = path;
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  std::string file() const { return path_ + "/sdr"; }

 private:
  std::string path_;
};

// Adds the record that the library is at, if it is a sensor in watts.
int add_sensor(ipmi_sdr_ctx_t sdr, std::uint8_t type, const void* record, unsigned length,
               void* sensors_pointer) {
  auto& sensors = *static_cast<std::vector<PowerSensor>*>(sensors_pointer);
  if (type != IPMI_SDR_FORMAT_FULL_SENSOR_RECORD || sensors.size() >= kMostSensors) return 0;
  std::uint8_t percentage = 0, modifier = 0, rate = 0, unit = 0, second_unit = 0, entity = 0, instance = 0,
               instance_type = 0;
  if (::ipmi_sdr_parse_sensor_units(sdr, record, length, &percentage, &modifier, &rate, &unit, &second_unit) <
      0)
    return 0;
  if (unit != IPMI_SENSOR_UNIT_WATTS || modifier != IPMI_SDR_MODIFIER_UNIT_NONE || rate != 0 ||
      percentage != 0)
    return 0;
  ::ipmi_sdr_parse_entity_id_instance_type(sdr, record, length, &entity, &instance, &instance_type);
  std::array<char, IPMI_SDR_MAX_SENSOR_NAME_LENGTH + 1> name{};
  ::ipmi_sdr_parse_id_string(sdr, record, length, name.data(), name.size() - 1);
  const auto* const bytes = static_cast<const std::uint8_t*>(record);
  sensors.push_back({name.data(), entity, {bytes, bytes + length}});
  return 0;
}

}  // namespace

struct FreeIpmi::Device {
  Owner<ipmi_ctx_t> ipmi{::ipmi_ctx_create()};
};

FreeIpmi::FreeIpmi() = default;
FreeIpmi::~FreeIpmi() = default;

void FreeIpmi::reopen() { device_.reset(); }

// The kernel's driver only: the others of the library access the hardware themselves.
Result<Done> FreeIpmi::open() {
  if (device_) return Done{};
  auto device = std::make_unique<Device>();
  if (!device->ipmi) return Error{.message = "libfreeipmi cannot be initialised", .code = ENOMEM};
  if (::ipmi_ctx_open_inband(device->ipmi.get(), IPMI_DEVICE_OPENIPMI, 0, 0, 0, nullptr, 0,
                             IPMI_FLAGS_DEFAULT) < 0)
    return ipmi_error("/dev/ipmi0", ::ipmi_ctx_errormsg(device->ipmi.get()));
  device_ = std::move(device);
  return Done{};
}

Result<Microwatts> FreeIpmi::dcmi_power() {
  if (const auto opened = open(); !opened) return opened.error();
  std::array<std::uint8_t, 256> reply{};
  const int length = ::ipmi_cmd_raw(device_->ipmi.get(), 0, kDcmiFunction, kDcmiPowerRequest.data(),
                                    kDcmiPowerRequest.size(), reply.data(), reply.size());
  if (length < 0) return ipmi_error("/dev/ipmi0", ::ipmi_ctx_errormsg(device_->ipmi.get()));
  return parse_dcmi_power(std::span(reply).first(static_cast<std::size_t>(length)));
}

Result<std::vector<PowerSensor>> FreeIpmi::power_sensors() {
  if (const auto opened = open(); !opened) return opened.error();
  const TemporaryDirectory directory;
  const Owner<ipmi_sdr_ctx_t> sdr(::ipmi_sdr_ctx_create());
  if (!sdr) return Error{.message = "libfreeipmi cannot be initialised", .code = ENOMEM};
  const std::string file = directory.file();
  std::vector<PowerSensor> sensors;
  if (::ipmi_sdr_cache_create(sdr.get(), device_->ipmi.get(), file.c_str(),
                              IPMI_SDR_CACHE_CREATE_FLAGS_DEFAULT, nullptr, nullptr) < 0 ||
      ::ipmi_sdr_cache_open(sdr.get(), nullptr, file.c_str()) < 0 ||
      ::ipmi_sdr_cache_iterate(sdr.get(), add_sensor, &sensors) < 0)
    return ipmi_error("the sensor data records", ::ipmi_sdr_ctx_errormsg(sdr.get()));
  return sensors;
}

Result<std::optional<Microwatts>> FreeIpmi::read_sensor(const PowerSensor& sensor) {
  if (const auto opened = open(); !opened) return opened.error();
  const Owner<ipmi_sensor_read_ctx_t> reader(::ipmi_sensor_read_ctx_create(device_->ipmi.get()));
  if (!reader) return Error{.message = "libfreeipmi cannot be initialised", .code = ENOMEM};
  std::uint8_t raw = 0;
  std::uint16_t events = 0;
  double* value = nullptr;
  const int result =
      ::ipmi_sensor_read(reader.get(), sensor.record.data(), static_cast<unsigned>(sensor.record.size()), 0,
                         &raw, &value, &events);
  const std::unique_ptr<double, decltype(&::free)> owner(value, ::free);
  if (result < 0) {
    const int number = ::ipmi_sensor_read_ctx_errnum(reader.get());
    if (number == IPMI_SENSOR_READ_ERR_SENSOR_READING_UNAVAILABLE ||
        number == IPMI_SENSOR_READ_ERR_SENSOR_SCANNING_DISABLED)
      return std::optional<Microwatts>();
    return ipmi_error("a power sensor", ::ipmi_sensor_read_ctx_errormsg(reader.get()));
  }
  if (value == nullptr || !std::isfinite(*value) || *value < 0 || *value > kMostWatts)
    return std::optional<Microwatts>();
  return std::optional(Microwatts{std::llround(*value * kMicro)});
}

}  // namespace keplerd::ipmi
