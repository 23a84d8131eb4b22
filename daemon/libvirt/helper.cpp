// SPDX-License-Identifier: Apache-2.0
#include "daemon/libvirt/helper.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

#include <fcntl.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/barrier.h"
#include "base/parse.h"
#include "daemon/clock.h"
#include "daemon/log.h"
#include "host/host_root.h"
#include "version.h"

namespace keplerd {
namespace {

constexpr char kProgram[] = "keplerd-libvirt";

struct DriverDaemon {
  std::string_view driver;
  const char* pid_file;
  std::string_view comm;
};
// One daemon for all drivers, or one for each (libvirtd(8), virtqemud(8), virtxend(8)).
constexpr std::array kDaemons = {DriverDaemon{"qemu", "run/libvirtd.pid", "libvirtd"},
                                 DriverDaemon{"qemu", "run/virtqemud.pid", "virtqemud"},
                                 DriverDaemon{"xen", "run/libvirtd.pid", "libvirtd"},
                                 DriverDaemon{"xen", "run/virtxend.pid", "virtxend"}};

bool runs(const HostRoot& host, const DriverDaemon& daemon) {
  std::array<char, 32> buffer;
  const auto text = read_file(host.root(), daemon.pid_file, buffer);
  const auto pid = text ? parse_number<std::int32_t>(trim(*text)) : std::nullopt;
  if (!pid || *pid <= 0) return false;
  const auto comm = read_file(host.procfs(), (std::to_string(*pid) + "/comm").c_str(), buffer);
  return comm && trim(*comm) == daemon.comm;
}

// Runs in the child: drops all of keplerd's privileges and descriptors but the pipe. Must not allocate,
// because another thread may have held the allocator's lock at fork. Does not return.
[[noreturn]] void become_helper(int output, const std::vector<char*>& words) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::dup2(output, STDOUT_FILENO);
  ::execv(words.front(), words.data());
  ::_exit(127);
}

}  // namespace

std::vector<std::string> running_drivers(const HostRoot& host, const std::vector<std::string>& wanted) {
  std::vector<std::string> running;
  for (const std::string& driver : wanted) {
    const bool runs_one = std::ranges::any_of(
        kDaemons, [&](const DriverDaemon& daemon) { return daemon.driver == driver && runs(host, daemon); });
    if (runs_one) running.push_back(driver);
  }
  return running;
}

std::string find_libvirt_helper() {
  std::array<char, 4096> buffer;
  const ssize_t size = ::readlink("/proc/self/exe", buffer.data(), buffer.size());
  std::string sibling(buffer.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  sibling = sibling.substr(0, sibling.rfind('/') + 1) + kProgram;
  for (const std::string& path : {sibling, std::string(KEPLERD_LIBEXECDIR "/keplerd/") + kProgram}) {
    if (::access(path.c_str(), X_OK) == 0) return path;
  }
  return {};
}

LibvirtHelper::LibvirtHelper(sd_event* loop, std::function<std::string()> find,
                             std::function<void(const LibvirtUpdate&)> heard)
    : loop_(loop), find_(std::move(find)), heard_(std::move(heard)) {}

LibvirtHelper::~LibvirtHelper() {
  kill();
  reap();
}

void LibvirtHelper::update(const std::vector<std::string>& drivers, Nanoseconds now) {
  reap();
  if (program_.empty() && !drivers.empty()) program_ = find_();
  if (program_.empty()) return;
  const bool same = child_ == 0 || drivers == drivers_;
  switch (policy_.decide(!drivers.empty() && same, now)) {
    case HelperPolicy::Action::kNone:
      return;
    case HelperPolicy::Action::kStart:
      return start(drivers, now);
    case HelperPolicy::Action::kKill:
      if (!drivers.empty() && same) log_warning("libvirt does not answer: restarting keplerd-libvirt");
      kill();
      policy_.ended(now);
  }
}

void LibvirtHelper::start(const std::vector<std::string>& drivers, Nanoseconds now) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return;
  UniqueFd output(ends[0]), input(ends[1]);
  ::fcntl(output.get(), F_SETFL, O_NONBLOCK);
  const auto added = io_.attach(loop_, output.get(), EPOLLIN, "reading from keplerd-libvirt",
                                [this](std::uint32_t) { read_lines(); });
  if (!added) return log_warning(added.error().message);
  std::vector<char*> words = {const_cast<char*>(program_.c_str())};
  for (const std::string& driver : drivers) words.push_back(const_cast<char*>(driver.c_str()));
  words.push_back(nullptr);
  const pid_t child = ::fork();
  if (child == 0) become_helper(input.get(), words);
  if (child < 0) {
    log_warning(system_error(program_, errno).message);
    return io_.reset();
  }
  child_ = child;
  drivers_ = drivers;
  output_ = std::move(output);
  policy_.started(now);
}

void LibvirtHelper::read_lines() {
  const Nanoseconds now = read_system_clocks().monotonic;
  std::array<char, 16 << 10> part;
  const ssize_t size = ::read(output_.get(), part.data(), part.size());
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (size > 0) buffer_.append(part.data(), static_cast<std::size_t>(size));
  std::size_t end;
  while ((end = buffer_.find('\n')) != buffer_.npos) {
    const auto update = parse_update(std::string_view(buffer_).substr(0, end));
    buffer_.erase(0, end + 1);
    if (!update) continue;
    policy_.heard(now);
    connected_ = true;
    heard_(*update);
  }
  if (size > 0 && buffer_.size() <= kLongestUpdate) return;
  kill();
  policy_.ended(now);
}

void LibvirtHelper::kill() {
  io_.reset();
  output_.reset();
  buffer_.clear();
  connected_ = false;
  if (child_ == 0) return;
  ::kill(child_, SIGKILL);
  killed_.push_back(std::exchange(child_, 0));
}

// Does not wait: a process that hangs in the kernel ends later.
void LibvirtHelper::reap() {
  std::erase_if(killed_, [](pid_t child) { return ::waitpid(child, nullptr, WNOHANG) != 0; });
}

}  // namespace keplerd
