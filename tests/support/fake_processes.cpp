// SPDX-License-Identifier: Apache-2.0
// The processes and cgroups of a FakeHost.
#include <cerrno>
#include <fstream>
#include <system_error>

#include <fmt/format.h>
#include <unistd.h>

#include "support/fake_host.h"

namespace keplerd {
namespace {

namespace fs = std::filesystem;

constexpr unsigned kKernelThreadFlag = 0x00200000;  // PF_KTHREAD
constexpr unsigned kForkedFlag = 0x00000040;        // PF_FORKNOEXEC

std::string cgroup_directory(const std::string& path) { return path == "/" ? "cgroup" : "cgroup" + path; }

std::string parent_of(const std::string& cgroup) {
  const auto slash = cgroup.rfind('/');
  return slash == 0 ? "/" : cgroup.substr(0, slash);
}

bool lies_in(const std::string& cgroup, const std::string& ancestor) {
  return cgroup.starts_with(ancestor) && (cgroup.size() == ancestor.size() || cgroup[ancestor.size()] == '/');
}

}  // namespace

void FakeHost::add_cgroup(const std::string& path, std::int64_t usage_usec) {
  if (path != "/") {
    if (!cgroup_types_.contains(parent_of(path))) add_cgroup(parent_of(path));
    write(cgroup_directory(path) + "/cgroup.type", "domain\n");
    write(cgroup_directory(path) + "/cgroup.events", "populated 1\nfrozen 0\n");
  }
  write(cgroup_directory(path) + "/cgroup.controllers", "cpu memory pids\n");
  cgroup_types_[path] = "domain";
  set_cgroup_usage(path, usage_usec);
  write_procs_of(path);
}

void FakeHost::set_cgroup_usage(const std::string& path, std::int64_t usage_usec) {
  const auto system = usage_usec / 4;
  write(cgroup_directory(path) + "/cpu.stat",
        fmt::format("usage_usec {}\nuser_usec {}\nsystem_usec {}\nnice_usec 0\ncore_sched.force_idle_usec 0\n"
                    "nr_periods 0\nnr_throttled 0\nthrottled_usec 0\nnr_bursts 0\nburst_usec 0\n",
                    usage_usec, usage_usec - system, system));
}

// In place: a file that is replaced is not modified.
void FakeHost::set_cgroup_populated(const std::string& path, bool populated) {
  std::ofstream file(root_ / cgroup_directory(path) / "cgroup.events");
  file << fmt::format("populated {}\nfrozen 0\n", populated ? 1 : 0);
}

void FakeHost::set_cgroup_type(const std::string& path, const std::string& type) {
  write(cgroup_directory(path) + "/cgroup.type", type + "\n");
  cgroup_types_[path] = type;
  if (is_threaded(path)) {
    break_file(cgroup_directory(path) + "/cgroup.procs");
    write_procs_of(domain_of(path));
  } else {
    write_procs_of(path);
  }
}

void FakeHost::set_cgroup_owner(const std::string& path, std::uint32_t user) {
  const auto directory = root_ / cgroup_directory(path);
  if (::chown(directory.c_str(), user, user) != 0)
    throw std::system_error(errno, std::generic_category(), directory.string());
}

void FakeHost::set_cgroup_procs(const std::string& path, const std::vector<pid_t>& pids) {
  std::string text;
  for (const pid_t pid : pids) text += fmt::format("{}\n", pid);
  write(cgroup_directory(path) + "/cgroup.procs", text);
}

void FakeHost::remove_cgroup(const std::string& path) {
  // The directory is emptied but kept, so that its inode is not reused by the next one.
  const auto grave = root_ / fmt::format("removed/{}", removed_cgroups_++);
  fs::rename(root_ / cgroup_directory(path), grave);
  for (const auto& entry : fs::recursive_directory_iterator(grave)) {
    if (entry.is_regular_file()) fs::remove(entry.path());
  }
  std::erase_if(cgroup_types_, [&](const auto& known) { return lies_in(known.first, path); });
}

void FakeHost::add_process(const FakeProcess& process) {
  processes_[process.pid] = process;
  write_process(process);
  write_procs_of(domain_of(process.cgroup));
}

void FakeHost::set_process_time(pid_t pid, std::int64_t utime, std::int64_t stime) {
  auto& process = processes_.at(pid);
  process.utime = utime;
  process.stime = stime;
  write_process(process);
}

void FakeHost::move_process(pid_t pid, const std::string& cgroup) {
  auto& process = processes_.at(pid);
  const auto before = domain_of(process.cgroup);
  process.cgroup = cgroup;
  write_process(process);
  if (cgroup_types_.contains(before)) write_procs_of(before);
  write_procs_of(domain_of(cgroup));
}

void FakeHost::remove_process(pid_t pid) {
  const auto group = domain_of(processes_.at(pid).cgroup);
  processes_.erase(pid);
  remove(fmt::format("proc/{}", pid));
  if (cgroup_types_.contains(group)) write_procs_of(group);
}

bool FakeHost::is_threaded(const std::string& cgroup) const {
  const auto type = cgroup_types_.find(cgroup);
  return type != cgroup_types_.end() && type->second == "threaded";
}

std::string FakeHost::domain_of(std::string cgroup) const {
  while (is_threaded(cgroup)) cgroup = parent_of(cgroup);
  return cgroup;
}

void FakeHost::write_procs_of(const std::string& cgroup) {
  std::vector<pid_t> pids;
  for (const auto& [pid, process] : processes_) {
    if (cgroup != "/" && !lies_in(process.cgroup, cgroup)) continue;  // most of them, by the cheaper test
    if (domain_of(process.cgroup) == cgroup) pids.push_back(pid);
  }
  set_cgroup_procs(cgroup, pids);
}

void FakeHost::write_process(const FakeProcess& p) {
  const auto directory = fmt::format("proc/{}", p.pid);
  // proc_pid_stat(5): 52 fields.
  write(directory + "/stat",
        fmt::format(
            "{pid} ({comm}) S {ppid} {pid} {pid} 0 -1 {flags} 0 0 0 0 {utime} {stime} 0 0 20 0 1 0 {start} "
            "10000000 1000 18446744073709551615 1 1 0 0 0 0 0 4096 0 0 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
            fmt::arg("pid", p.pid), fmt::arg("comm", p.comm), fmt::arg("ppid", p.ppid),
            fmt::arg("flags", p.kernel_thread ? kKernelThreadFlag | kForkedFlag : 4194304U),
            fmt::arg("utime", p.utime), fmt::arg("stime", p.stime), fmt::arg("start", p.start)));
  write(directory + "/comm", p.comm + "\n");
  write(directory + "/cgroup", "0::" + p.cgroup + "\n");
  write(directory + "/cmdline", p.cmdline);
  if (p.user)
    write(directory + "/status", fmt::format("Name:\t{}\nUid:\t{}\t{}\t{}\t{}\n", p.comm,
                                             p.real_user.value_or(*p.user), *p.user, *p.user, *p.user));
}

}  // namespace keplerd
