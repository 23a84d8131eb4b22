// SPDX-License-Identifier: Apache-2.0
// The files of a group of cgroup2 (Documentation/admin-guide/cgroup-v2.rst).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "base/units.h"

namespace keplerd {

// Parses the usage_usec of a cpu.stat.
Result<Nanoseconds> parse_cpu_stat(std::string_view text);

// Parses a cpu.max: the CPU time that the group may use in a second; unset: no limit.
Result<std::optional<Nanoseconds>> parse_cpu_max(std::string_view text);

// Parses a memory.max, in bytes; unset: no limit.
Result<std::optional<std::int64_t>> parse_memory_max(std::string_view text);

// Parses a cgroup.events: whether there are processes in the group, or in one below it.
bool parse_populated(std::string_view text);

// The same, of the group whose directory this is.
Result<bool> read_populated(int directory);

// Whether that means that the group is empty: also if it is gone, but not if this host is short of
// descriptors or memory.
bool shows_empty(const Result<bool>& populated);

// Whether the group at `path`, relative to `directory`, is threaded; and whether there may be threaded ones
// right below it. A group with such children has another type than "domain"; the root has no type.
bool is_threaded(int directory, const char* path);
bool may_have_threaded(int directory, const char* path);

}  // namespace keplerd
