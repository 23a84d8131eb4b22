// SPDX-License-Identifier: Apache-2.0
// Reading the small files of /sys, /proc and cgroup2, relative to a directory's descriptor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "host/descriptor_budget.h"

namespace keplerd {

// Reads all of the file `path` (relative to `directory`) into `buffer`; the view is of `buffer`. A file that
// does not fit is an error (EFBIG): nothing here is read in part. Errors name `path`.
Result<std::string_view> read_file(int directory, const char* path, std::span<char> buffer);

// The first bytes of the file, as many as there are and the buffer holds: for files of which only the first
// lines matter (/proc/stat, /proc/cpuinfo).
Result<std::string_view> read_beginning(int directory, const char* path, std::span<char> buffer);

// The same as read_file for files of unknown size up to `limit` bytes.
Result<std::string> read_text(int directory, const char* path, std::size_t limit);

// What the symbolic link `path` holds.
Result<std::string> read_link(int directory, const char* path);

// Names in the directory `path`, without "." and "..", in no particular order; `most` of them, if there are
// more.
Result<std::vector<std::string>> list_directory(int directory, const char* path, std::size_t most = SIZE_MAX);

// Names of the directories in the directory `path`, in no particular order.
Result<std::vector<std::string>> list_subdirectories(int directory, const char* path);

// `pids` becomes those in a /proc: tens of thousands, so that no names are made of them.
Result<Done> list_processes(int procfs, std::vector<std::int32_t>& pids);

Result<UniqueFd> open_directory(int directory, const char* path);

// A number for what `path` names that nothing else has or had: its inode number, which cgroup2 never gives
// twice, mixed with its time of birth where the file system keeps that, because others do.
Result<std::uint64_t> read_identity(int directory, const char* path);

// The user who owns what `path` names. Of a /proc/PID: the effective user of the process, or root where the
// process hides from its user (prctl(2), PR_SET_DUMPABLE).
Result<std::uint32_t> read_owner(int directory, const char* path);

// A file that is read over and over: opened once and read from its start each time. That holds on the
// kernel's own file systems (sysfs, procfs, cgroup2), where a kept descriptor also tells a reborn object from
// the old one. On any other, where a file may be replaced by renaming, it is opened anew for each read.
// `directory` must stay open as long as the file is used. With a budget, that is so where it has no place,
// too.
class KeptFile {
 public:
  KeptFile() = default;
  // Errors of one that is held by a `budget` name the file without its directories: there may be very many.
  static Result<KeptFile> open(int directory, std::string path, DescriptorBudget* budget = nullptr);

  // As read_file, but the buffer must be larger than the file. For files of one record (energy_uj, cpu.stat,
  // comm): a list that the kernel hands out in pieces would be cut.
  Result<std::string_view> read(std::span<char> buffer) const;
  // The same for such lists (cgroup.procs) of up to `limit` bytes. `buffer` grows as needed, and is best
  // kept.
  Result<std::string_view> read_list(std::string& buffer, std::size_t limit) const;
  explicit operator bool() const { return directory_ != kNoDirectory; }
  // Whether it is open all the time, so that it is the very file that was opened.
  bool is_held() const { return static_cast<bool>(fd_); }

 private:
  static constexpr int kNoDirectory = -1;  // AT_FDCWD is another number

  int directory_ = kNoDirectory;
  std::string path_;
  UniqueFd fd_;  // unset: open anew each time
  DescriptorBudget::Place place_;
};

// True where `fd` lies on one of the kernel's own file systems (see KeptFile).
bool is_kernel_file_system(int fd);

}  // namespace keplerd
