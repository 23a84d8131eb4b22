// SPDX-License-Identifier: Apache-2.0
// States (ledger/state.h) as bytes. What gets them throws Malformed where they are none.
#pragma once

#include <string>

#include "ledger/log/bytes.h"
#include "ledger/state.h"

namespace keplerd {

// What changes with a sample.
void put_numbers(ByteWriter& out, const UnitState& unit);
void put_numbers(ByteWriter& out, const ContainerState& container);
void put_numbers(ByteWriter& out, const VmState& vm);
void get_numbers(ByteReader& in, UnitState& unit);
void get_numbers(ByteReader& in, ContainerState& container);
void get_numbers(ByteReader& in, VmState& vm);

// What else there is, as a text: of containers and VMs the row of the saved text; of units nothing but the
// id.
std::string describe(const UnitState& unit);
std::string describe(const ContainerState& container);
std::string describe(const VmState& vm);
void get_described(const std::string& id, const std::string& text, std::size_t zones, UnitState& unit);
void get_described(const std::string& id, const std::string& text, std::size_t zones,
                   ContainerState& container);
void get_described(const std::string& id, const std::string& text, std::size_t zones, VmState& vm);

void put(ByteWriter& out, const ProcessState& process);
void put(ByteWriter& out, const ZoneState& zone);
void put(ByteWriter& out, const SavedReading& reading);
void put(ByteWriter& out, ProcessId id);
ProcessState get_process(ByteReader& in);
ZoneState get_zone(ByteReader& in);
SavedReading get_reading(ByteReader& in);
ProcessId get_process_id(ByteReader& in);

}  // namespace keplerd
