// SPDX-License-Identifier: Apache-2.0
// keplerd's counters at one sample, and what was drawn between two of them. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <sys/types.h>

#include "base/units.h"
#include "client/kinds.h"
#include "history/span.h"

namespace keplerd::history {

using client::Kind;

struct Amounts {
  Microjoules active, idle;  // idle: what the idle policy placed

  bool operator==(const Amounts&) const = default;
  Microjoules energy() const { return active + idle; }
  Amounts& operator+=(const Amounts& other) {
    active += other.active;
    idle += other.idle;
    return *this;
  }
};

// Of the host. Their sum is its energy.
struct Accounts {
  Microjoules idle, kernel, workloads, unattributed;

  bool operator==(const Accounts&) const = default;
  Microjoules energy() const { return idle + kernel + workloads + unattributed; }
  Accounts& operator+=(const Accounts& other) {
    idle += other.idle;
    kernel += other.kernel;
    workloads += other.workloads;
    unattributed += other.unattributed;
    return *this;
  }
};

// What identifies a workload over time: an id that another user takes over is another workload.
struct WorkloadKey {
  Kind kind{};
  std::string id;
  std::optional<uid_t> owner;

  auto operator<=>(const WorkloadKey&) const = default;
  // Of root and the system, who name their workloads themselves; users choose the names of theirs.
  bool is_of_the_system() const { return owner.value_or(0) == 0; }
};

// That a virtual machine belongs to; empty: unknown.
struct Project {
  std::string id;  // the name, unless there is another one
  std::string name;

  bool operator==(const Project&) const = default;
};

struct WorkloadReading {
  WorkloadKey key;
  std::string name;
  Project project;  // as libvirt's metadata states it
  Time since{0};    // when keplerd began to count it
  Amounts now;
  Amounts earlier;  // the part of `now` that was counted before the present instance
};

struct Reading {
  Time time{0};
  std::string instance;  // keplerd's instanceId
  Accounts now, earlier;
  std::vector<WorkloadReading> workloads;
};

// What must be known of an earlier reading to know what was drawn since.
struct Baseline {
  struct Counter {
    Time since{0};
    Amounts amounts;
    bool operator==(const Counter&) const = default;
  };
  Time time{0};
  std::string instance;
  Accounts accounts;
  std::map<WorkloadKey, Counter> counters;
};

Baseline baseline_of(const Reading& reading);

struct Drawn {
  Span span;  // empty if the clock was set back
  Accounts accounts;
  std::vector<std::pair<const WorkloadReading*, Amounts>> workloads;  // of the reading; only those that drew
};

// The counters' differences. Where the instance has changed (keplerd lost its last totals): what the present
// one counted, and what an earlier one did after `before`.
//
// A workload that was not there before has drawn all that was counted, if that began after `before`, else
// nothing, since it is not known when.
Drawn drawn_since(const Baseline& before, const Reading& now);

}  // namespace keplerd::history
