// SPDX-License-Identifier: Apache-2.0
// The containers that systemd-machined knows in units that do not look like one: an nspawn container that
// stays in the service that started it (systemd-nspawn --keep-unit). Read from the root-owned files in
// /run/systemd/machines; a record is only as trustworthy as its unit, since the process that registers a
// machine with machined may be the one inside it.
//
// Source: systemd's src/machine/machine.c (machine_save).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/units.h"
#include "host/regular_file.h"
#include "workloads/name_sources.h"

namespace keplerd {

class HostRoot;

struct MachinedRecord {
  std::string name;     // escaped
  std::string unit;     // "web.service", escaped
  std::string service;  // what registered it: "systemd-nspawn", "libvirt-lxc"
  bool is_container = false;

  bool operator==(const MachinedRecord&) const = default;
};

// Unset if it names no machine or no unit, or one with a "/", which container ids cannot contain.
std::optional<MachinedRecord> parse_machined_record(std::string_view text);

class MachinedRecords {
 public:
  // `host` must outlive the records.
  explicit MachinedRecords(const HostRoot& host) : host_(host) {}

  // Checks for changes every ten seconds, or once a second while a new record is `expected`. `now`: of the
  // monotonic clock.
  void refresh(Nanoseconds now, bool expected = true);

  // By unit.
  using Containers = std::map<std::string, MachinedRecord, std::less<>>;
  const Containers& containers() const { return containers_; }

 private:
  const HostRoot& host_;
  LastCheck checked_;
  FileStamp listed_;
  struct File {
    FileStamp stamp;
    std::optional<MachinedRecord> record;
  };
  std::map<std::string, File, std::less<>> files_;
  Containers containers_;
};

}  // namespace keplerd
