// SPDX-License-Identifier: Apache-2.0
#include "workloads/logins.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/parse.h"
#include "base/text.h"
#include "host/host_root.h"

namespace keplerd {
namespace {

constexpr std::size_t kFileLimit = 1 << 20;
constexpr std::size_t kMostRanges = 10'000;

// "alice:x:1000:1000::/home/alice:/bin/sh"
std::map<std::string_view, Uid> parse_passwd(std::string_view passwd) {
  std::map<std::string_view, Uid> users;
  while (!passwd.empty()) {
    std::string_view line = take_until(passwd, '\n');
    const std::string_view name = take_until(line, ':');
    take_until(line, ':');
    if (const auto user = parse_number<Uid>(take_until(line, ':')); user && !name.empty())
      users.emplace(name, *user);
  }
  return users;
}

std::optional<Uid> find_login(const std::map<std::string_view, Uid>& users, std::string_view name) {
  const auto known = users.find(name);
  return known != users.end() ? std::optional(known->second) : parse_number<Uid>(name);
}

}  // namespace

std::vector<SubordinateRange> parse_subuid(std::string_view subuid, std::string_view passwd) {
  const auto users = parse_passwd(passwd);
  std::vector<SubordinateRange> ranges;
  while (!subuid.empty() && ranges.size() < kMostRanges) {
    std::string_view line = trim(take_until(subuid, '\n'));
    const auto login = find_login(users, take_until(line, ':'));
    const auto first = parse_number<Uid>(take_until(line, ':'));
    const auto count = parse_number<Uid>(line);
    if (login && first && count && *count > 0) ranges.push_back({*login, *first, *count});
  }
  return ranges;
}

std::vector<Uid> parse_passwd_users(std::string_view passwd) {
  std::vector<Uid> users;
  for (const auto& [name, user] : parse_passwd(passwd)) users.push_back(user);
  std::ranges::sort(users);
  return users;
}

// Walks through all ids, from each start or end of a range to the next.
Logins::Logins(const std::vector<SubordinateRange>& ranges, std::vector<Uid> users)
    : users_(std::move(users)) {
  std::map<std::uint64_t, std::vector<std::pair<Uid, int>>> steps;
  for (const SubordinateRange& range : ranges) {
    steps[range.first].emplace_back(range.login, 1);
    steps[range.first + range.count].emplace_back(range.login, -1);
  }
  std::map<Uid, int> open;
  std::uint64_t begin = 0;
  for (const auto& [at, changes] : steps) {
    if (open.size() == 1) ranges_.push_back({open.begin()->first, begin, at - begin});
    for (const auto& [login, change] : changes)
      if ((open[login] += change) == 0) open.erase(login);
    begin = at;
  }
}

const SubordinateRange* Logins::range_of(Uid user) const {
  const auto next = std::ranges::upper_bound(ranges_, std::uint64_t{user}, {}, &SubordinateRange::first);
  if (next == ranges_.begin()) return nullptr;
  const SubordinateRange& range = *std::prev(next);
  return user - range.first < range.count ? &range : nullptr;
}

bool Logins::is_user_of_host(Uid user) const {
  constexpr Uid kFirstOfNamespaces = 65536;
  return user < kFirstOfNamespaces || std::ranges::binary_search(users_, user);
}

Uid Logins::login_of(Uid user) const { return account_of(user).value_or(user); }

std::optional<Uid> Logins::account_of(Uid user) const {
  if (is_user_of_host(user)) return user;
  if (const SubordinateRange* const range = range_of(user)) return range->login;
  return std::nullopt;
}

void LoginFiles::refresh(Nanoseconds now) {
  if (!checked_.is_due(now, true)) return;
  const auto etc = open_inside(host_.root(), "etc");
  const int directory = etc ? etc->get() : -1;
  const bool subuid = read(directory, "subuid", subuid_stamp_, subuid_);
  const bool passwd = read(directory, "passwd", passwd_stamp_, passwd_);
  if (subuid || passwd) logins_ = Logins(parse_subuid(subuid_, passwd_), parse_passwd_users(passwd_));
}

// Whether the text has changed. An unreadable file counts as empty.
bool LoginFiles::read(int directory, const char* name, FileStamp& stamp, std::string& text) {
  const auto now = read_if_changed(directory, name, kFileLimit, stamp);
  if (!now) return !std::exchange(text, {}).empty();
  if (!*now || **now == text) return false;
  text = **now;
  return true;
}

}  // namespace keplerd
