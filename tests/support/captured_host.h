// SPDX-License-Identifier: Apache-2.0
// Replays a host captured by `keplerctl doctor --capture` (cli/doctor/capture.h) as files.
#pragma once

#include <string>
#include <string_view>

#include "support/fake_host.h"

namespace keplerd {

// The text of tests/fixtures/hosts/NAME.json.
std::string read_capture(const std::string& name);

// Replaces a new FakeHost's contents. A file that could not be read can be opened, but each read fails.
// Throws if `capture` is invalid.
void lay_out(FakeHost& host, std::string_view capture);

}  // namespace keplerd
