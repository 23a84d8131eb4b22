// SPDX-License-Identifier: Apache-2.0
#include "cost/tariff_cache.h"

#include <utility>

#include <sys/stat.h>

namespace keplerd {
namespace {

bool is_same(const timespec& a, const timespec& b) { return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec; }

}  // namespace

bool TariffCache::Stamp::operator==(const Stamp& other) const {
  return device == other.device && inode == other.inode && size == other.size &&
         is_same(modified, other.modified) && is_same(changed, other.changed);
}

TariffCache::Stamp TariffCache::stamp_of(const std::string& path) {
  struct stat status {};
  if (path.empty() || ::stat(path.c_str(), &status) != 0) return {};
  return {status.st_dev, status.st_ino, status.st_size, status.st_mtim, status.st_ctim};
}

const TariffCache::Loaded& TariffCache::load() {
  auto text = load_tariff_text(config_);
  if (!text) {
    text_.reset();
    loaded_ = {.problem = text.error().message};
    return loaded_;
  }
  const Stamp stamp =
      stamp_of(text->intensity_file);  // first: a change while it is read is seen the next time
  if (text_ == *text && stamp_ == stamp) return loaded_;
  auto tariff = finish_with_intensities(*text);
  loaded_ = {};
  if (tariff) {
    loaded_.tariff = std::make_shared<const Tariff>(*std::move(tariff));
  } else {
    loaded_.problem = tariff.error().message;
  }
  text_ = *std::move(text);
  stamp_ = stamp;
  return loaded_;
}

}  // namespace keplerd
