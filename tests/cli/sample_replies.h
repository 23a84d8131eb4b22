// SPDX-License-Identifier: Apache-2.0
// Replies in keplerd's format, with numbers that are easy to follow.
#pragma once

#include <string>
#include <vector>

#include "varlink/json.h"

namespace keplerd::cli {

using varlink::Json;

// 2^53 + 1: the first integer that a double cannot hold.
inline constexpr std::int64_t kBeyondDouble = 9'007'199'254'740'993;

// GetStatus's: a powercap host of 42.3 W.
Json measured_status();
// The same from the simulated source.
Json simulated_status();
// No meter at all: power is unknown everywhere.
Json unmeasured_status();
// For a caller without full access.
Json public_status();

// Running: /system.slice, /system.slice/ssh.service; terminated: /system.slice/old.service.
std::vector<Json> unit_rows();
// Running: web (KVM) and a guest of Xen, whose device model has no UUID; terminated: old.
std::vector<Json> vm_rows();
// cache, and build inside it; api, of the first pod.
std::vector<Json> container_rows();
// The second one's namespace and name are unknown.
std::vector<Json> pod_rows();
std::vector<Json> process_rows();
std::vector<Json> zone_rows();

// Monitor's reply made of a status.
Json tick_of(const Json& status, std::vector<Json> rows = {}, std::vector<std::string> removed = {});

}  // namespace keplerd::cli
