// SPDX-License-Identifier: Apache-2.0
// cost.conf and its file of intensities, for programs that need it often: read again when it has changed.
#pragma once

#include <ctime>
#include <memory>
#include <optional>
#include <string>

#include <sys/types.h>

#include "cost/load.h"

namespace keplerd {

class TariffCache {
 public:
  // `config`: a file; empty: cost.conf and its drop-ins.
  explicit TariffCache(std::string config) : config_(std::move(config)) {}

  struct Loaded {
    std::shared_ptr<const Tariff> tariff = std::make_shared<const Tariff>();  // never null
    std::string problem;  // why nothing is known; empty: nothing is wrong
  };
  // As of now. The tariff is the same object as long as no file has changed. The configuration, which is
  // short, is always read; the file of intensities, which may not be, if its metadata have changed.
  const Loaded& load();

 private:
  struct Stamp {
    dev_t device = 0;
    ino_t inode = 0;
    off_t size = -1;
    struct timespec modified {
    }, changed{};

    bool operator==(const Stamp& other) const;
  };
  static Stamp stamp_of(const std::string& path);

  std::string config_;
  std::optional<TariffText> text_;  // that `loaded_` was made of
  Stamp stamp_;
  Loaded loaded_;
};

}  // namespace keplerd
