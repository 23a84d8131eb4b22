// SPDX-License-Identifier: Apache-2.0
// The latest data of keplerd, from the stream of each kind (Monitor of org.keplerd.Energy). Pure.
//
// The counters are keplerd's own. Nothing is counted here, so they continue when the exporter is restarted;
// ended workloads remain for as long as keplerd keeps them, regardless of the scrape interval.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "base/result.h"
#include "client/kinds.h"
#include "exporter/rows.h"
#include "varlink/json_fwd.h"

namespace keplerd::exporter {

using client::Kind;
using client::Kinds;

// The whole host, by a meter that covers it.
struct PlatformState {
  std::string id, name;  // of its zone
  Energy all;
  std::optional<Microjoules> rest;
  std::optional<Microwatts> rest_power;  // may be negative
  std::optional<std::chrono::microseconds> age, lag;
};

struct HostState {
  Energy all, active, idle;
  std::optional<PlatformState> platform;        // unset: no meter covers it
  std::optional<std::int64_t> busy;             // share of CPU time in the last window, in millionths
  std::map<std::string, Microjoules> accounts;  // empty: unknown
  std::string source, quality;                  // quality is empty if there is none
  std::chrono::microseconds sampled{0};         // since 1970
  std::int64_t discarded_windows = 0;
  std::int64_t missed_ends = 0;
  std::map<std::string, std::int64_t> problems;  // how many, by kind
  CpuTime daemon_cpu{0};
};

template <class Row>
using Rows = std::map<std::string, Row, std::less<>>;  // by id

class Snapshot {
 public:
  // Applies a reply of the stream of `kind`. Malformed parts of it are ignored.
  void apply(Kind kind, const varlink::Json& reply);

  // The stream of `kind` has ended.
  void forget(Kind kind);

  // Whether a complete tick of `kind` has arrived.
  bool has(Kind kind) const { return complete_.test(index_of(kind)); }

  // Counts complete ticks.
  std::uint64_t revision() const { return revision_; }

  // From the stream of zones; unset before.
  const std::optional<HostState>& host() const { return host_; }
  const Rows<ZoneRow>& zones() const { return zones_; }
  const Rows<UnitRow>& units() const { return units_; }
  const Rows<VmRow>& vms() const { return vms_; }
  const Rows<ContainerRow>& containers() const { return containers_; }
  const Rows<ContainerRow>& pods() const { return pods_; }
  const Rows<ProcessRow>& processes() const { return processes_; }

  // Whether zones and processes are complete and of the same sample.
  bool are_processes_current() const;
  // The host's active energy, by zone as in rows of processes.
  EnergyByZone active() const;

 private:
  template <class F>
  auto with_rows(Kind kind, F f);

  std::optional<HostState> host_;
  Rows<ZoneRow> zones_;
  Rows<UnitRow> units_;
  Rows<VmRow> vms_;
  Rows<ContainerRow> containers_, pods_;
  Rows<ProcessRow> processes_;
  Kinds complete_;
  std::array<std::int64_t, client::kKinds.size()> sequences_{};  // of the samples
  std::uint64_t revision_ = 0;
};

}  // namespace keplerd::exporter
