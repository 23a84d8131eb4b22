// SPDX-License-Identifier: Apache-2.0
// Which cgroups are to be measured: those that a setting such as Groups= lists (keplerd.conf(5)).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/units.h"

namespace keplerd {
class HostRoot;
}

namespace keplerd::meters {

inline constexpr char kLargest[] = "largest";

struct WantedCgroup {
  std::string path;            // below the root of cgroup2, without a leading slash
  std::uint64_t identity = 0;  // read_identity()
  bool is_named = false;       // a pattern names it; otherwise, it is one of the largest

  bool operator==(const WantedCgroup&) const = default;
};

class WantedCgroups {
 public:
  // `host` must outlive it. A pattern (glob(7)) with a slash at its beginning is one of whole paths, level by
  // level. Any other one is that of the name of a unit of the system manager, which is in slices only: so
  // that nobody else can have a cgroup measured by choosing its name. "largest": all units of the system
  // manager.
  WantedCgroups(const HostRoot& host, std::vector<std::string> patterns)
      : host_(host), patterns_(std::move(patterns)) {}

  // None is inside another one. Those that are named are first, by their paths. Then the others, of which the
  // use of CPU time is known since an earlier call, those first that use the most: a mean over the last
  // calls, about ten, so that one busy moment changes little.
  std::vector<WantedCgroup> find();

 private:
  void visit_slice(const std::string& path, int levels);
  void visit_path(const std::string& path, std::string_view pattern);
  void add(const std::string& path, bool is_named);
  bool matches_name(const std::string& name) const;

  const HostRoot& host_;
  std::vector<std::string> patterns_;
  struct Use {
    Nanoseconds usage{0};   // so far
    Nanoseconds recent{0};  // since the last calls, the older the less
  };
  using Uses = std::map<std::uint64_t, Use>;  // by identity
  Uses last_uses_, uses_;
  std::vector<WantedCgroup> found_;
  std::size_t left_to_visit_ = 0;
};

}  // namespace keplerd::meters
