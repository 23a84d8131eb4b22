// SPDX-License-Identifier: Apache-2.0
#include "cli/calibrate/drop_in.h"

#include <cerrno>
#include <filesystem>
#include <memory>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <systemd/sd-bus.h>
#include <unistd.h>

#include "base/text.h"
#include "base/unique_fd.h"

namespace keplerd::cli::calibrate {
namespace {

Result<Done> write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return system_error("write", errno);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return Done{};
}

}  // namespace

std::string drop_in_text(const IdleEstimate& idle, const std::string& date) {
  return fmt::format(
      "# Measured by \"keplerctl calibrate idle\" on {}: {:.1f} W +-{:.1f} W.\n"
      "# \"keplerctl calibrate idle --undo\" removes this file.\n"
      "[Attribution]\n"
      "IdlePower={:.3f}\n",
      date, idle.watts, idle.error, idle.watts);
}

Result<Done> write_drop_in(const std::string& path, const std::string& text) {
  const std::filesystem::path directory = std::filesystem::path(path).parent_path();
  std::error_code error;
  if (!directory.empty()) std::filesystem::create_directories(directory, error);
  if (error) return system_error(escape_name(directory.string()), error.value());
  const std::string temporary = path + ".new";
  const UniqueFd file(open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644));
  if (!file) return system_error(escape_name(temporary), errno);
  auto written = write_all(file.get(), text);
  if (written && (fchmod(file.get(), 0644) != 0 || fsync(file.get()) != 0 ||
                  rename(temporary.c_str(), path.c_str()) != 0))
    written = system_error(escape_name(path), errno);
  if (!written) (void)unlink(temporary.c_str());
  return written;
}

Result<Done> remove_drop_in(const std::string& path) {
  if (unlink(path.c_str()) != 0) return system_error(escape_name(path), errno);
  return Done{};
}

Result<Done> reload_daemon() {
  sd_bus* opened = nullptr;
  int result = sd_bus_open_system(&opened);
  const std::unique_ptr<sd_bus, decltype(&sd_bus_flush_close_unref)> bus(opened, sd_bus_flush_close_unref);
  sd_bus_error reason = SD_BUS_ERROR_NULL;
  if (result >= 0)
    result = sd_bus_call_method(bus.get(), "org.freedesktop.systemd1", "/org/freedesktop/systemd1",
                                "org.freedesktop.systemd1.Manager", "ReloadUnit", &reason, nullptr, "ss",
                                "keplerd.service", "replace");
  const std::string words = reason.message == nullptr ? "" : escape_name(reason.message);
  sd_bus_error_free(&reason);
  if (result >= 0) return Done{};
  return words.empty() ? system_error("the system manager", -result) : Error{words};
}

}  // namespace keplerd::cli::calibrate
