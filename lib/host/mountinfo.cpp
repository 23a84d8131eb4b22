// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/parse.h"
#include "host/host_root.h"

namespace keplerd {
namespace {

struct Mount {
  std::string root;  // the directory inside the file system that is mounted here
  std::string point;
  std::string_view type;
};

bool is_octal(char c) { return c >= '0' && c <= '7'; }

// The kernel writes blank, tab, newline and backslash as \ooo.
std::string unescape(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto digits = text.substr(i + 1, 3);
    if (text[i] == '\\' && digits.size() == 3 && std::all_of(digits.begin(), digits.end(), is_octal)) {
      plain += static_cast<char>((digits[0] - '0') * 64 + (digits[1] - '0') * 8 + (digits[2] - '0'));
      i += digits.size();
    } else {
      plain += text[i];
    }
  }
  return plain;
}

// "36 35 98:0 ROOT POINT OPTIONS [TAG...] - TYPE SOURCE SUPER_OPTIONS"
std::optional<Mount> parse_mount(std::string_view line) {
  for (int skipped = 0; skipped < 3; ++skipped) take_word(line);
  Mount mount;
  mount.root = unescape(take_word(line));
  mount.point = unescape(take_word(line));
  take_word(line);
  while (true) {  // no tag is a lone hyphen
    const auto tag = take_word(line);
    if (tag.empty()) return std::nullopt;
    if (tag == "-") break;
  }
  mount.type = take_word(line);
  if (mount.point.empty() || mount.type.empty()) return std::nullopt;
  return mount;
}

// Smaller is better. A mount of a subtree is some bind mount.
int rank(const Mount& mount) {
  if (mount.point == "/sys/fs/cgroup") return 0;
  if (mount.point == "/sys/fs/cgroup/unified") return 1;
  return mount.root == "/" ? 2 : 3;
}

}  // namespace

std::optional<std::string> find_cgroup2(std::string_view mountinfo) {
  std::vector<Mount> candidates;
  while (!mountinfo.empty()) {
    auto mount = parse_mount(take_until(mountinfo, '\n'));
    if (!mount) continue;
    std::erase_if(candidates, [&](const Mount& earlier) { return earlier.point == mount->point; });
    if (mount->type == "cgroup2") candidates.push_back(*std::move(mount));
  }
  const auto best = std::min_element(candidates.begin(), candidates.end(),
                                     [](const Mount& a, const Mount& b) { return rank(a) < rank(b); });
  if (best == candidates.end()) return std::nullopt;
  return std::move(best->point);
}

}  // namespace keplerd
