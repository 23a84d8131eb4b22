// SPDX-License-Identifier: Apache-2.0
#include "history/follower.h"

#include <algorithm>
#include <utility>

#include "client/fields.h"

namespace keplerd::history {
namespace {

using varlink::Json;

client::Streams::Plan plan_of(const Follower::Target& target) {
  client::Streams::Plan plan{
      .address = target.address, .pace = target.pace, .program = "keplerd-history", .aligned = true};
  for (const Kind kind : kRecorded) plan.wanted.push_back({kind, true});
  return plan;
}

Microjoules energy_field(const Json& object, std::string_view name) {
  return {client::integer_field(object, name).value_or(0)};
}

Accounts parse_accounts(const Json& accounts) {
  return {energy_field(accounts, "idle"), energy_field(accounts, "kernel"),
          energy_field(accounts, "workloads"), energy_field(accounts, "unattributed")};
}

// A keplerd that does not say what a zone covers has these names for it.
bool covers_platform(const Json& zone) {
  if (client::bool_field(zone, "inTotal").value_or(false)) return false;
  if (const auto covers = client::string_field(zone, "covers")) return *covers == "platform";
  const std::string name = client::text(zone, "name");
  return name == "platform" || name == "psys";
}

}  // namespace

std::optional<Reading> parse_reading(const Json& reply) {
  const auto time = client::integer_field(reply, "realtimeUsec");
  const Json& accounts = client::field(reply, "accounts");
  if (!time || !accounts.is_object()) return std::nullopt;
  return Reading{.time = Time(*time),
                 .instance = client::text(reply, "instanceId"),
                 .now = parse_accounts(accounts),
                 .earlier = parse_accounts(client::field(client::field(reply, "earlier"), "accounts"))};
}

std::optional<WorkloadReading> parse_workload(Kind kind, const Json& row) {
  auto id = client::string_field(row, "id");
  if (!id || id->empty()) return std::nullopt;
  if (kind == Kind::kZones && !covers_platform(row)) return std::nullopt;
  WorkloadReading workload{.key = {kind, *std::move(id), {}},
                           .name = client::text(row, "name"),
                           .since = Time(client::integer_field(row, "sinceUsec").value_or(0))};
  if (const auto owner = client::integer_field(row, "ownerUid"))
    workload.key.owner = static_cast<uid_t>(*owner);
  if (const varlink::Json& metadata = client::field(row, "metadata"); metadata.is_object())
    workload.project = {client::text(metadata, "openstack.projectId"),
                        client::text(metadata, "openstack.project")};
  if (workload.project.id.empty()) workload.project.id = workload.project.name;
  if (kind == Kind::kZones) {  // nothing of it is divided
    workload.now.active = energy_field(row, "energyMicrojoules");
    workload.earlier.active = energy_field(row, "earlierMicrojoules");
    return workload;
  }
  workload.now = {energy_field(row, "activeMicrojoules"), energy_field(row, "idleMicrojoules")};
  workload.earlier.idle = energy_field(row, "earlierIdleMicrojoules");
  workload.earlier.active = energy_field(row, "earlierMicrojoules") - workload.earlier.idle;
  return workload;
}

Follower::Follower(sd_event* event, const Target& target, Take take,
                   std::function<void(bool up, const std::string& reason)> changed)
    : event_(event),
      patience_(target.patience),
      take_(std::move(take)),
      streams_(event, plan_of(target),
               {.reply = [this](Kind kind, const Json& reply) { add(kind, reply); },
                .lost =
                    [this](Kind kind) {
                      const auto index = std::ranges::find(kRecorded, kind) - kRecorded.begin();
                      kinds_.at(static_cast<std::size_t>(index)) = {};
                    },
                .changed = std::move(changed)}) {}

Result<Done> Follower::start() {
  const auto added = unequal_.attach(event_, "following keplerd", [this] { begin_again(); });
  return added ? streams_.start() : added;
}

// The kinds that are answered now are of the latest sample, and probably all of the same.
void Follower::begin_again() {
  for (const Kind kind : kRecorded) streams_.reopen(kind);
}

// The rows of all kinds are of the same sample.
bool Follower::is_whole() const {
  const auto& sequence = kinds_.front().sequence;
  return sequence &&
         std::ranges::all_of(kinds_, [&](const Followed& followed) { return followed.sequence == sequence; });
}

void Follower::add(Kind kind, const Json& reply) {
  const auto index = std::ranges::find(kRecorded, kind) - kRecorded.begin();
  Followed& followed = kinds_.at(static_cast<std::size_t>(index));
  const auto sequence = client::integer_field(reply, "sequence");
  followed.sequence.reset();
  if (!followed.rows.apply(reply)) return;
  followed.sequence = sequence;
  if (!is_whole()) return unequal_.set_after(patience_);
  unequal_.stop();
  auto reading = parse_reading(reply);
  if (!reading) return;
  for (std::size_t i = 0; i < kRecorded.size(); ++i) {
    for (const auto& [id, row] : kinds_.at(i).rows.rows()) {
      if (auto workload = parse_workload(kRecorded.at(i), row))
        reading->workloads.push_back(*std::move(workload));
    }
  }
  take_(*std::move(reading));
}

}  // namespace keplerd::history
