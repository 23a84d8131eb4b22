// SPDX-License-Identifier: Apache-2.0
#include "meters/drm/client_times.h"

#include <algorithm>

namespace keplerd::drm {
namespace {

constexpr std::uint64_t kMostTime = std::uint64_t{1} << 50;  // ns in one step: more is no time

// What is new, in nanoseconds; a number that goes back is nobody's.
std::uint64_t step(std::uint64_t before, std::uint64_t now) {
  return now > before ? std::min(now - before, kMostTime) : 0;
}

std::uint64_t time_of(const EngineTime& before, const EngineTime& now, Nanoseconds elapsed) {
  if (now.nanoseconds) return step(before.nanoseconds.value_or(0), *now.nanoseconds);
  if (!now.cycles || !now.all_cycles || !before.cycles || !before.all_cycles) return 0;
  const std::uint64_t all = step(*before.all_cycles, *now.all_cycles);
  const std::uint64_t cycles = step(*before.cycles, *now.cycles);
  if (all == 0 || elapsed <= Nanoseconds{0}) return 0;
  const auto time =
      static_cast<unsigned __int128>(cycles) * static_cast<std::uint64_t>(elapsed.count()) / all;
  return static_cast<std::uint64_t>(std::min<unsigned __int128>(time, kMostTime));
}

bool was_started_later(ProcessId a, ProcessId b) {
  return std::tie(a.start, a.pid) > std::tie(b.start, b.pid);
}

}  // namespace

Nanoseconds ClientTimes::advance(Client& client, const ClientInfo& info, Nanoseconds now) {
  std::uint64_t time = 0;
  for (const auto& [name, engine] : info.engines)
    time += time_of(client.engines[name], engine, now - client.seen);
  client.engines = info.engines;
  client.seen = now;
  return Nanoseconds(static_cast<std::int64_t>(std::min(time, kMostTime)));
}

void ClientTimes::take(Nanoseconds now, const std::vector<SeenClient>& seen, meters::DeviceUses& uses) {
  std::map<Key, std::vector<const SeenClient*>> holders;
  for (const SeenClient& one : seen) holders[{one.info.device, one.info.id}].push_back(&one);
  std::erase_if(clients_, [&](const auto& entry) { return !holders.contains(entry.first); });
  for (const auto& [key, all] : holders) {
    const auto [entry, is_unknown] = clients_.try_emplace(key);
    Client& client = entry->second;
    const auto is_same = [&](const SeenClient* one) { return one->process == client.process; };
    if (is_unknown || std::ranges::none_of(all, is_same)) {
      client.process = (*std::ranges::max_element(all, [](const SeenClient* a, const SeenClient* b) {
                         return was_started_later(b->process, a->process);
                       }))->process;
    }
    const bool is_new = is_unknown && std::ranges::all_of(all, &SeenClient::is_new);
    if (is_unknown && !is_new) {  // what it used before is not known to be of now
      client.engines = all.front()->info.engines;
      client.seen = now;
    }
    const Nanoseconds time = advance(client, all.front()->info, now);
    uses.add(key.first, client.process, time);
  }
}

}  // namespace keplerd::drm
