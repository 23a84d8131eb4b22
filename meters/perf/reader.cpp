// SPDX-License-Identifier: Apache-2.0
#include "meters/perf/reader.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>

#include "base/parse.h"
#include "base/text.h"
#include "base/unique_fd.h"
#include "host/host_root.h"
#include "meters/counts/accounts.h"
#include "meters/counts/keep_largest.h"
#include "usage/count_file.h"

namespace keplerd::perf {
namespace {

constexpr Nanoseconds kChoicePeriod = std::chrono::seconds(10);

std::string reason_of(const Error& error) {
  switch (error.code) {
    case ENOENT:
    case EOPNOTSUPP:
    case ENODEV:
    case EINVAL:
      return "the kernel has no hardware counter for this here, as in most virtual machines";
    case EACCES:
    case EPERM:
      return error.message + " (needs CAP_PERFMON, and kernel.perf_event_paranoid must be 2 or less)";
    default:
      return error.message;
  }
}

}  // namespace

Reader::Reader(const HostRoot& host, Options options)
    : host_(host),
      options_(std::move(options)),
      processors_(host, no_descriptors_),
      wanted_(host, options_.patterns) {}

void Reader::note(const std::string& problem) {
  if (problem_.empty()) problem_ = problem;
}

// Whether they are the same as before.
bool Reader::find_cpus() {
  std::array<char, 4096> buffer;
  const auto text = read_file(host_.sysfs(), "devices/system/cpu/online", buffer);
  std::string online(text ? trim(*text) : "");
  if (online == online_) return true;
  online_ = std::move(online);
  processors_.read("", cpus_);
  return false;
}

// In addition to all that runs.
std::size_t Reader::most_cgroups() const {
  const std::size_t of_each = cpus_.size() * counts_.size();
  const std::size_t all = of_each == 0 ? 0 : options_.descriptors / of_each;
  return all == 0 ? 0 : std::min(all - 1, kMostMeasuredGroups);
}

void Reader::begin() {
  counts_.clear();
  not_counted_.clear();
  measured_.clear();
  chosen_.reset();
  const Pmus pmus = pmus_of_cpus(host_);
  for (const Event& event : options_.events) {
    EventCounts counts(event, options_.open);
    const Result<Done> begun =
        cpus_.empty() ? Error{.message = "no CPUs found in sysfs"} : counts.begin(cpus_, pmus);
    if (begun) {
      counts_.push_back(std::move(counts));
    } else {
      not_counted_[count_file_name({event.kind, 0})] =
          fmt::format("{}: {}", event.name, reason_of(begun.error()));
    }
  }
}

// The cgroup's directory must still be the one that was found.
void Reader::take(const meters::WantedCgroup& wanted) {
  const auto failed = [&](const Error& error) {
    problem_of_choice_ = fmt::format("/{} is not measured: {}", escape_name(wanted.path), error.message);
  };
  const UniqueFd directory(
      ::openat(*host_.cgroupfs(), wanted.path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory && errno == ENOENT) return;
  if (!directory) return failed(system_error("its directory", errno));
  const auto identity = read_identity(directory.get(), ".");
  if (!identity || *identity != wanted.identity) return;
  for (EventCounts& counts : counts_) {
    const auto added = counts.add(wanted.identity, directory.get());
    // Without a directory any more, it has just ended.
    const bool is_there = added || read_identity(*host_.cgroupfs(), wanted.path.c_str()).ok();
    if (!added && is_there) failed(added.error());
    if (!added) return;
  }
  measured_.insert(wanted.identity);
}

void Reader::choose() {
  problem_of_choice_.clear();
  if (!host_.cgroupfs()) {
    problem_of_choice_ = "no cgroup is measured, because cgroup2 is not mounted";
    return;
  }
  std::vector<meters::WantedCgroup> wanted = wanted_.find();
  const std::size_t found = wanted.size(), most = most_cgroups();
  const auto is_named = [](const meters::WantedCgroup& one) { return one.is_named; };
  const auto named = static_cast<std::size_t>(std::ranges::count_if(wanted, is_named));
  if (named > most) wanted.resize(most);
  const std::size_t kept = std::min(named, most);
  meters::keep_largest(wanted, kept, most - kept,
                       [this](const meters::WantedCgroup& one) { return measured_.contains(one.identity); });
  std::set<std::uint64_t> chosen;
  for (const meters::WantedCgroup& one : wanted) chosen.insert(one.identity);
  for (EventCounts& counts : counts_) counts.keep(chosen);
  std::erase_if(measured_, [&](std::uint64_t cgroup) { return !chosen.contains(cgroup); });
  for (const meters::WantedCgroup& one : wanted)
    if (!measured_.contains(one.identity)) take(one);
  if (named > most || (found > 0 && most == 0))
    problem_of_choice_ = fmt::format("{} of the listed cgroups are not measured: increase Descriptors=",
                                     named > most ? named - most : found);
}

std::map<std::string, std::string> Reader::read(Nanoseconds now) {
  const bool is_due = !chosen_ || now - *chosen_ >= kChoicePeriod || now < *chosen_;
  const bool is_lost = std::ranges::any_of(counts_, &EventCounts::is_lost) || (is_due && counts_.empty());
  if (!find_cpus() || is_lost) begin();
  if (!chosen_ || is_due) {
    choose();
    chosen_ = now;
  }
  std::map<std::string, std::string> texts;
  problem_.clear();
  for (const auto& [file, reason] : not_counted_) {
    texts[file] = "unknown " + reason + "\n";
    note(reason);
  }
  for (EventCounts& counts : counts_) {
    texts.merge(counts.read(now));
    if (!counts.problem().empty()) note(fmt::format("{}: {}", counts.name(), counts.problem()));
  }
  if (!counts_.empty()) note(problem_of_choice_);
  return texts;
}

}  // namespace keplerd::perf
