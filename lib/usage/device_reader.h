// SPDX-License-Identifier: Apache-2.0
// How long processes have used graphics cards (usage_file.h), and what the hardware counts of groups
// (count_file.h): files that other programs write, one for each device or count, in a directory of each
// program in /run/keplerd-usage. As for meters, only root may create directories there, and
// a directory's files belong to its owner; no link is followed, and nothing that is not a small regular file
// is read.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/unique_fd.h"
#include "host/directory_watch.h"
#include "host/owned_directory.h"
#include "usage/usage_sample.h"
#include "usage/use_counter.h"
#include "usage/window_counter.h"

namespace keplerd {

class CgroupTree;
class HostRoot;
class ProcessTable;

inline constexpr char kUsageDirectories[] = "run/keplerd-usage";  // below the host's root
inline constexpr std::size_t kMostUsedDevices = 64;

class DeviceReader {
 public:
  explicit DeviceReader(const HostRoot& host);

  // Sets sample.devices and sample.counts to the devices whose use is known in this window, and to the counts
  // that are; and adds the users of devices to sample.processes, which has been read. Reads files only if
  // they have changed. `boottime`: CLOCK_BOOTTIME.
  void read(Nanoseconds boottime, CgroupTree* tree, ProcessTable& processes, UsageSample& sample);

  // Why the use of the device at this PCI address is not known for the last sample; unset if it is.
  std::optional<std::string> why_unknown(std::string_view device) const;
  // What is left out of these directories, and why: "NAME/DEVICE: reason".
  const std::vector<std::string>& left_out() const { return left_out_; }

 private:
  struct Directory {
    std::string name;
    OwnedDirectory open;
    int watch = -1;  // its files are read each time if it cannot be watched
    bool changed = true;
  };
  struct Device {
    std::string file;                  // "NAME/DEVICE"
    std::uint64_t inode = 0;           // of its directory
    std::optional<CountSource> count;  // unset: it is a device
    UseCounter counter;
    WindowCounter counts;
    std::string problem;
    bool is_known = false;  // in this window
  };

  void scan();
  void scan_directory(int root, const std::string& name, std::vector<Directory>& found);
  void find_devices();
  void leave_out(const std::string& what, const std::string& why);
  void read_files();
  static void read_file(const Directory& directory, const std::string& address, Device& device);
  static void find_counts(Nanoseconds boottime, Device& device, UsageSample& sample);
  void find_users(const UseCounter::Uses& uses, CgroupTree* tree, ProcessTable& processes,
                  UsageSample& sample, std::vector<EngineUse>& found);

  UniqueFd root_;  // of its own: it may be closed elsewhere
  DirectoryWatch watch_;
  std::optional<Nanoseconds> scanned_;
  std::vector<Directory> directories_;
  std::map<std::string, Device, std::less<>> devices_;  // by the name of the file
  std::vector<std::string> left_out_;
  // The groups of those that used a device lately, by incarnation: for what they used until they ended.
  std::map<ProcessId, std::uint64_t> groups_;
};

}  // namespace keplerd
