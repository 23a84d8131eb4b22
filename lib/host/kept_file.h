// SPDX-License-Identifier: Apache-2.0
// Reads the small files of /sys, /proc and cgroup2, relative to a directory descriptor.
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

// Reads the whole file `path` (relative to `directory`) into `buffer`; the view refers to `buffer`. A file
// that does not fit is an error (EFBIG): nothing is read in part. Errors name `path`.
Result<std::string_view> read_file(int directory, const char* path, std::span<char> buffer);

// Reads the start of the file, as far as the buffer goes: for files of which only the first lines matter
// (/proc/stat, /proc/cpuinfo).
Result<std::string_view> read_beginning(int directory, const char* path, std::span<char> buffer);

// Like read_file, for files of unknown size up to `limit` bytes.
Result<std::string> read_text(int directory, const char* path, std::size_t limit);

// The target of the symbolic link `path`.
Result<std::string> read_link(int directory, const char* path);

// Names in the directory `path`, without "." and "..", in no particular order; at most `most` of
// them.
Result<std::vector<std::string>> list_directory(int directory, const char* path, std::size_t most = SIZE_MAX);

// Names of the directories in the directory `path`, in no particular order.
Result<std::vector<std::string>> list_subdirectories(int directory, const char* path);

// Sets `pids` to the pids in a /proc: there may be tens of thousands, so no strings are made of them.
Result<Done> list_processes(int procfs, std::vector<std::int32_t>& pids);

Result<UniqueFd> open_directory(int directory, const char* path);

// A number that identifies what `path` names and is never reused: its inode number, which is unique for ever
// on cgroup2, mixed with its birth time if the file system records one, because others reuse inodes.
Result<std::uint64_t> read_identity(int directory, const char* path);

// The same, and the owner, of an open directory.
struct DirectoryStatus {
  std::uint64_t identity = 0;
  std::uint32_t owner = 0;
};
Result<DirectoryStatus> read_status(int directory);

// The owner of what `path` names. For a /proc/PID: the effective user of the process, or root if the process
// is not dumpable (prctl(2), PR_SET_DUMPABLE).
Result<std::uint32_t> read_owner(int directory, const char* path);

// Whether there are directories in that one, on one of the kernel's own file systems: there, each counts as a
// link of its parent. True if that is not known.
bool has_subdirectories(int directory);

// A file of one record, such as an attribute of sysfs or cgroup2: one read returns all of it. A record that
// does not fit is an error (EFBIG).
Result<std::string_view> read_record(int directory, const char* path, std::span<char> buffer);

// A file that is read repeatedly: opened once and read from its start each time. This works on the kernel's
// own file systems (sysfs, procfs, cgroup2), where a kept descriptor also distinguishes a recreated object
// from the old one. On other file systems, where a file may be replaced by renaming, it is reopened for each
// read. `directory` must stay open as long as the file is used. With a budget in which no place is free, the
// file is not opened before it is read, so that only the read finds out that it is missing.
class KeptFile {
 public:
  KeptFile() = default;
  // With a `budget`, errors name the file without its directories: there may be very many such files.
  static Result<KeptFile> open(int directory, std::string path, DescriptorBudget* budget = nullptr);

  // Like read_file, but the buffer must be larger than the file. For files of one record (energy_uj,
  // cpu.stat, comm): a list that the kernel returns in pieces would be truncated.
  Result<std::string_view> read(std::span<char> buffer) const;
  // The same for such lists of up to `limit` bytes, with lines of less than 512 (cgroup.procs), and for
  // single records (/proc/stat). `buffer` grows as needed, and is best reused.
  Result<std::string_view> read_list(std::string& buffer, std::size_t limit) const;
  // Like the function of this name.
  Result<std::string_view> read_beginning(std::span<char> buffer) const;
  explicit operator bool() const { return directory_ != kNoDirectory; }
  // Whether it is open all the time, and so is the very file that was opened.
  bool is_held() const { return static_cast<bool>(fd_); }

 private:
  static constexpr int kNoDirectory = -1;  // AT_FDCWD is another number

  int directory_ = kNoDirectory;
  std::string path_;
  UniqueFd fd_;  // unset: reopened each time
  DescriptorBudget::Place place_;
};

// True if `fd` lies on one of the kernel's own file systems (see KeptFile).
bool is_kernel_file_system(int fd);

}  // namespace keplerd
