// SPDX-License-Identifier: Apache-2.0
#include "usage/thread_reader.h"

#include <algorithm>
#include <array>

#include "base/parse.h"
#include "base/text.h"
#include "host/host_root.h"

namespace keplerd {
namespace {

constexpr std::size_t kMostThreads = 4096;  // QEMU has a few hundred more than vCPUs

std::optional<Nanoseconds> parse_schedstat(std::string_view text) {
  const auto time = parse_number<std::int64_t>(take_word(text));
  if (!time || *time < 0) return std::nullopt;
  return Nanoseconds(*time);
}

}  // namespace

void ThreadReader::read(ProcessId id, std::vector<PartUsage>& parts) {
  Process& process = processes_[id];
  if (!process.tasks) {
    auto tasks = open_directory(host_.procfs(), (std::to_string(id.pid) + "/task").c_str());
    if (!tasks) return;
    process.tasks = *std::move(tasks);
  }
  ++process.reads;
  const auto names = list_subdirectories(process.tasks.get(), ".");
  if (!names) return;
  for (const std::string& tid : *names) {
    if (process.threads.size() >= kMostThreads) break;
    read_thread(id, process, tid, parts);
  }
  std::erase_if(process.threads, [&](const auto& entry) { return entry.second.seen != process.reads; });
}

void ThreadReader::read_thread(ProcessId id, Process& process, const std::string& tid,
                               std::vector<PartUsage>& parts) {
  const auto number = parse_number<std::int32_t>(tid);
  if (!number) return;
  const auto [entry, is_new] = process.threads.try_emplace(*number);
  Thread& thread = entry->second;
  std::array<char, 64> buffer;
  if (is_new) {
    auto file = KeptFile::open(process.tasks.get(), tid + "/schedstat");
    if (file) thread.schedstat = *std::move(file);
  }
  // A thread gets its name after its creation.
  constexpr int kNamed = 2;
  if (is_new || process.reads <= kNamed || thread.seen == 0) {
    const auto comm = read_file(process.tasks.get(), (tid + "/comm").c_str(), buffer);
    if (comm) thread.name = escape_name(trim(*comm));
  }
  const auto text =
      thread.schedstat ? thread.schedstat.read(buffer) : Result<std::string_view>(Error{"gone"});
  const auto usage = text ? parse_schedstat(*text) : std::nullopt;
  if (!usage) return;
  const Nanoseconds last = thread.usage;
  // A thread created after the process was first read has used all its time since.
  const bool known = !is_new || process.reads > 1;
  thread.seen = process.reads;
  thread.usage = *usage;
  parts.push_back({.group = kNoGroup,
                   .process = id,
                   .thread = *number,
                   .name = thread.name,
                   .time = known ? std::max(*usage - last, Nanoseconds{0}) : Nanoseconds{0}});
}

void ThreadReader::forget(const std::vector<ProcessId>& ended) {
  if (processes_.empty()) return;
  for (const ProcessId id : ended) processes_.erase(id);
}

}  // namespace keplerd
