// SPDX-License-Identifier: Apache-2.0
#include "cost/load.h"

#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include "base/read_all.h"
#include "base/text.h"
#include "base/unique_fd.h"

namespace keplerd {
namespace {

constexpr std::size_t kLargestIntensities = 16 << 20;  // two years of each five minutes, with all columns

ApplyFile apply_to(TariffText& text_so_far) {
  return [&text_so_far](std::string_view text, const std::string& path) -> Result<Done> {
    auto parsed = parse_tariff(text, path, text_so_far);
    if (!parsed) return parsed.error();
    text_so_far = *std::move(parsed);
    return Done{};
  };
}

Result<std::string> read_regular_file(const std::string& path) {
  // Not to hang on a FIFO.
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  struct stat status {};
  if (!fd || ::fstat(fd.get(), &status) < 0) return system_error(escape_name(path), errno);
  if (!S_ISREG(status.st_mode)) return Error{escape_name(path) + ": not a regular file"};
  return read_all(fd.get(), kLargestIntensities, escape_name(path));
}

}  // namespace

Result<Tariff> finish_with_intensities(const TariffText& text) {
  auto tariff = finish_tariff(text);
  if (!tariff || text.intensity_file.empty()) return tariff;
  const auto csv = read_regular_file(text.intensity_file);
  if (!csv) return csv.error();
  auto intensities = parse_intensities(*csv);
  if (!intensities)
    return Error{fmt::format("{}:{}", escape_name(text.intensity_file), intensities.error().message)};
  tariff->intensities = *std::move(intensities);
  return tariff;
}

Result<TariffText> load_tariff_text(const std::string& path, const std::vector<std::string>& directories) {
  TariffText text;
  const auto applied = path.empty() ? apply_config_files(directories, "cost.conf", apply_to(text))
                                    : apply_config_file(path, apply_to(text));
  if (!applied) return applied.error();
  return text;
}

Result<Tariff> load_tariff(const std::vector<std::string>& directories) {
  const auto text = load_tariff_text("", directories);
  return text ? finish_with_intensities(*text) : text.error();
}

Result<Tariff> load_tariff_file(const std::string& path) {
  const auto text = load_tariff_text(path);
  return text ? finish_with_intensities(*text) : text.error();
}

}  // namespace keplerd
