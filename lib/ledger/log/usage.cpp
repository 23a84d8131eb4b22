// SPDX-License-Identifier: Apache-2.0
#include "ledger/log/usage.h"

#include <unordered_set>
#include <vector>

#include "ledger/log/states.h"

namespace keplerd {
namespace {

using Microseconds = std::chrono::microseconds;  // of which the kernel's times are whole ones

void put_time(ByteWriter& out, Nanoseconds time) {
  out.number(std::chrono::duration_cast<Microseconds>(time).count());
}

Nanoseconds get_time(ByteReader& in) {
  constexpr std::int64_t kMost = std::int64_t{1} << 50;  // in microseconds: 35 years
  const std::int64_t time = in.amount();
  if (time > kMost) throw Malformed{"a CPU time is out of range"};
  return Microseconds(time);
}

}  // namespace

void put(ByteWriter& out, const SavedUsage& usage) {
  out.number(usage.monotonic.count());
  out.number(usage.boottime.count());
  for (const std::int64_t ticks : {usage.ticks.busy, usage.ticks.idle, usage.ticks.interrupts})
    out.number(ticks);
  out.byte(usage.complete ? 1 : 0);
  out.number(static_cast<std::int64_t>(usage.groups.size()));
  for (const auto& [identity, time] : usage.groups) {
    out.number(static_cast<std::int64_t>(identity));
    put_time(out, time);
  }
  out.number(static_cast<std::int64_t>(usage.processes.size()));
  for (const SavedUsage::Process& process : usage.processes) {
    put(out, process.id);
    out.number(static_cast<std::int64_t>(process.group));
    put_time(out, process.usage);
  }
  out.number(static_cast<std::int64_t>(usage.behind.size()));
  for (const std::uint64_t identity : usage.behind) out.number(static_cast<std::int64_t>(identity));
}

void RedoneUsage::save_point(ByteReader& in) {
  *this = {};
  known_ = !in.is_at_end();
  if (known_) take(in);
}

// A record without them is one of a version that did not write them: what was known is out of date.
void RedoneUsage::sample(ByteReader& in) {
  known_ = known_ && !in.is_at_end();
  if (known_) take(in);
}

void RedoneUsage::take(ByteReader& in) {
  last_.monotonic = Nanoseconds(in.amount());
  last_.boottime = Nanoseconds(in.amount());
  for (std::int64_t* const ticks : {&last_.ticks.busy, &last_.ticks.idle, &last_.ticks.interrupts})
    *ticks = in.amount();
  last_.complete = in.byte() != 0;
  for (std::size_t left = in.count(); left > 0; --left) {
    const auto identity = static_cast<std::uint64_t>(in.number());
    groups_[identity] = get_time(in);
  }
  std::vector<SavedUsage::Process> read;
  for (std::size_t left = in.count(); left > 0; --left) {
    SavedUsage::Process process{.id = get_process_id(in)};
    process.group = static_cast<std::uint64_t>(in.number());
    process.usage = get_time(in);
    read.push_back(process);
  }
  // Earlier versions have written each process that was behind instead.
  if (!in.is_at_end()) leave_behind(in);
  for (const SavedUsage::Process& process : read) processes_[process.id] = process;
}

void RedoneUsage::leave_behind(ByteReader& in) {
  std::unordered_set<std::uint64_t> behind;
  for (std::size_t left = in.count(); left > 0; --left)
    behind.insert(static_cast<std::uint64_t>(in.number()));
  if (behind.empty()) return;
  for (auto& [id, process] : processes_)
    if (behind.contains(process.group)) process.group = SavedUsage::kBehind;
}

std::optional<SavedUsage> RedoneUsage::result() const {
  if (!known_) return std::nullopt;
  SavedUsage usage = last_;
  for (const auto& [identity, time] : groups_) usage.groups.push_back({identity, time});
  for (const auto& [id, process] : processes_) usage.processes.push_back(process);
  return usage;
}

}  // namespace keplerd
