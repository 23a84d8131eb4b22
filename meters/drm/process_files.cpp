// SPDX-License-Identifier: Apache-2.0
#include "meters/drm/process_files.h"

#include <algorithm>
#include <cerrno>

#include <fmt/format.h>

#include "base/parse.h"
#include "host/host_root.h"
#include "usage/process_stat.h"

namespace keplerd::drm {
namespace {

constexpr std::uint64_t kPeriod = 30;  // scans between two searches of a process
constexpr std::size_t kMostDescriptors = 65'536;
constexpr std::size_t kMostSearched = 3'000;  // descriptors in a scan; other processes wait for the next one
constexpr std::size_t kMostCards = 1'024;     // of a process

}  // namespace

void ProcessFiles::scan() {
  ++number_;
  cost_ = searched_ = denied_ = 0;
  clients_.clear();
  passed_through_.clear();
  find_processes();
  for (auto& [pid, process] : processes_) {
    if (number_ >= process.next && searched_ < kMostSearched) search(process);
    read_clients(process);
    for (const std::string& device : process.passed_through) passed_through_.push_back({device, process.id});
    denied_ += process.is_denied ? 1 : 0;
  }
}

void ProcessFiles::find_processes() {
  ++cost_;
  if (!list_processes(host_.procfs(), pids_)) return;
  std::ranges::sort(pids_);
  running_.clear();
  std::erase_if(processes_,
                [this](const auto& entry) { return !std::ranges::binary_search(pids_, entry.first); });
  for (const std::int32_t pid : pids_) {
    const auto [entry, is_new] = processes_.try_emplace(pid);
    Process& process = entry->second;
    if (is_new) {
      process.id.pid = pid;
      process.was_there = number_ == 1;
      process.next = number_;
      if (!read_start(process)) {
        processes_.erase(entry);
        continue;
      }
    }
    running_.insert(process.id);
  }
}

bool ProcessFiles::read_start(Process& process) {
  ++cost_;
  const auto text = read_file(host_.procfs(), fmt::format("{}/stat", process.id.pid).c_str(), buffer_);
  const auto stat = text ? parse_process_stat(*text) : Result<ProcessStat>(text.error());
  if (!stat || stat->id.pid != process.id.pid) return false;
  process.id = stat->id;
  return true;
}

Result<std::string_view> ProcessFiles::read_descriptor(const Process& process, std::string_view descriptor) {
  ++cost_;
  return read_file(host_.procfs(), fmt::format("{}/fdinfo/{}", process.id.pid, descriptor).c_str(), buffer_);
}

// Finds its cards.
void ProcessFiles::search(Process& process) {
  // Its pid may be another process's by now.
  const ProcessId before = process.id;
  if (!read_start(process)) return;
  if (process.id != before) process = Process{.id = process.id};
  process.period = process.was_there ? kPeriod : std::min<std::uint64_t>(2 * process.period, kPeriod);
  const bool is_first_of_old = process.was_there && !process.is_searched;
  process.next =
      number_ + (is_first_of_old ? 1 + static_cast<std::uint64_t>(process.id.pid) % kPeriod : process.period);
  ++cost_;
  const std::string directory = fmt::format("{}/fdinfo", process.id.pid);
  const auto names = list_directory(host_.procfs(), directory.c_str(), kMostDescriptors);
  process.is_denied = !names && (names.error().code == EACCES || names.error().code == EPERM);
  if (!names) return;
  searched_ += names->size();
  process.cards.clear();
  process.passed_through.clear();
  for (const std::string& name : *names) {
    const auto descriptor = parse_number<int>(name);
    const auto text = descriptor ? read_descriptor(process, name) : Result<std::string_view>(Error{});
    if (!text) continue;
    if (parse_fdinfo(*text) && process.cards.size() < kMostCards) process.cards.push_back(*descriptor);
    const auto device = parse_vfio_fdinfo(*text);
    if (device && process.passed_through.size() < kMostCards) process.passed_through.push_back(*device);
  }
  // What is open already at the first scan has been used before.
  if (is_first_of_old) process.seen.insert(process.cards.begin(), process.cards.end());
  process.is_searched = true;
}

void ProcessFiles::read_clients(Process& process) {
  std::erase_if(process.cards, [&](int descriptor) {
    const auto text = read_descriptor(process, std::to_string(descriptor));
    auto info = text ? parse_fdinfo(*text) : std::nullopt;
    const bool is_new = process.seen.insert(descriptor).second;
    if (!info) {
      process.seen.erase(descriptor);
      return true;
    }
    clients_.push_back({process.id, is_new, *std::move(info)});
    return false;
  });
}

}  // namespace keplerd::drm
