// SPDX-License-Identifier: Apache-2.0
#include "daemon/own_cost.h"

#include <array>

#include <fcntl.h>
#include <unistd.h>

#include "base/parse.h"
#include "daemon/clock.h"
#include "ledger/ledger.h"

namespace keplerd {
namespace {

constexpr std::int64_t kMostPages = std::int64_t{1} << 40;

}  // namespace

std::optional<std::int64_t> parse_anonymous_pages(std::string_view statm) {
  take_word(statm);  // of the address space
  const auto resident = parse_number<std::int64_t>(take_word(statm));
  const auto of_files = parse_number<std::int64_t>(take_word(statm));
  if (!resident || !of_files || *of_files < 0 || *resident < *of_files || *resident > kMostPages)
    return std::nullopt;
  return *resident - *of_files;
}

OwnMemory::OwnMemory() {
  if (auto opened = KeptFile::open(AT_FDCWD, "/proc/self/statm")) statm_ = *std::move(opened);
}

std::optional<std::int64_t> OwnMemory::read() const {
  if (!statm_) return std::nullopt;
  std::array<char, 256> buffer{};
  const auto text = statm_.read(buffer);
  const auto pages = text ? parse_anonymous_pages(*text) : std::nullopt;
  if (!pages) return std::nullopt;
  return *pages * ::sysconf(_SC_PAGESIZE);
}

std::optional<ProcessId> OwnCostReader::process(const Ledger& ledger) const {
  const ProcessAccount* const account = ledger.processes().newest(pid_);
  return account == nullptr ? std::nullopt : std::optional(account->info->id);
}

OwnCost OwnCostReader::read(const Ledger& ledger, const OwnCost& before) const {
  OwnCost cost{.cpu = read_clock(CLOCK_PROCESS_CPUTIME_ID), .memory = memory_.read()};
  cost.window_cpu = cost.cpu - before.cpu;
  if (const auto row = ledger.find_process(pid_)) {
    cost.energy = row->active + row->idle;
    cost.power = row->power;
  }
  return cost;
}

}  // namespace keplerd
