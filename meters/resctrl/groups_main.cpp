// SPDX-License-Identifier: Apache-2.0
// keplerd-resctrl-groups [--config FILE] [SYS [PROC [CGROUP]]]: makes monitoring groups of resctrl for the
// cgroups that Groups= names (keplerd.conf(5)), and removes them when it is stopped. A process of its own,
// because it needs to be root, unlike the one that reads what they count.
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "event/stderr_log.h"
#include "meters/counts/program.h"
#include "meters/counts/wanted_cgroups.h"
#include "meters/resctrl/group_files.h"
#include "meters/resctrl/made_groups.h"

namespace {

using namespace keplerd;

// Threads that have come from elsewhere are in their group after this time at most.
constexpr timespec kPeriod{.tv_sec = 10, .tv_nsec = 0};

// What has changed since the last time, once.
class Log {
 public:
  void report(const resctrl::MadeGroups::Outcome& outcome) {
    if (outcome.problem != last_.problem && !outcome.problem.empty())
      stderr_log::log_warning(outcome.problem);
    if (outcome.refused > 0 && last_.refused == 0)
      stderr_log::log_warning(
          fmt::format("The hardware has no more monitoring groups: only {} of the listed cgroups have one",
                      outcome.made));
    if (outcome.waiting > 0 && last_.waiting == 0)
      stderr_log::log_info("Waiting for monitoring groups that were removed: their RMIDs are still in use");
    const std::set<std::string> known(last_.others.begin(), last_.others.end());
    for (const std::string& cgroup : outcome.others)
      if (!known.contains(cgroup))
        stderr_log::log_info(fmt::format("/{}: threads of it are in a group that somebody else has created",
                                         escape_name(cgroup)));
    if (outcome.made != last_.made)
      stderr_log::log_info(fmt::format("{} cgroups have a monitoring group", outcome.made));
    last_ = outcome;
  }

 private:
  resctrl::MadeGroups::Outcome last_;
};

int follow(const HostRoot& host, std::vector<std::string> patterns, const sigset_t& stop) {
  resctrl::KernelGroupFiles files(host);
  resctrl::MadeGroups groups(host, files);
  meters::WantedCgroups wanted(host, std::move(patterns));
  Log log;
  do {
    log.report(groups.follow(wanted.find()));
  } while (::sigtimedwait(&stop, nullptr, &kPeriod) < 0);
  const auto removed = groups.remove_all();
  if (removed) return EXIT_SUCCESS;
  stderr_log::log_error(removed.error().message);
  return EXIT_FAILURE;
}

}  // namespace

int main(int argc, char** argv) {
  const meters::Arguments arguments(argc, argv);
  const auto loaded = arguments.settings();
  if (!loaded) return meters::fail(loaded.error());
  const std::vector<std::string>& patterns = loaded->settings.resctrl.groups;
  if (patterns.empty())
    stderr_log::log_warning("Groups= in section [Resctrl] of keplerd.conf is empty: no groups are created");
  const auto host = arguments.host(0);
  if (!host) return meters::fail(host.error());
  sigset_t stop;
  sigemptyset(&stop);
  for (const int signal : {SIGTERM, SIGINT}) sigaddset(&stop, signal);
  sigprocmask(SIG_BLOCK, &stop, nullptr);
  return follow(*host, patterns, stop);
}
