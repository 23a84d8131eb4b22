// SPDX-License-Identifier: Apache-2.0
#include "exporter/follower.h"

#include <algorithm>
#include <utility>

#include "client/fields.h"
#include "event/stderr_log.h"

namespace keplerd::exporter {

using namespace stderr_log;

namespace {

constexpr std::chrono::seconds kLongestWait{7};  // a window, and a bit more; a scrape times out after 10 s
constexpr Nanoseconds kAccuracy = std::chrono::seconds(10);
constexpr char kNoSource[] = "none";
constexpr char kFollowing[] = "following keplerd";

}  // namespace

Follower::Follower(client::Streams::Plan plan, std::size_t processes, Means means)
    : plan_(std::move(plan)),
      means_(std::move(means)),
      ticks_([this](Kind kind, const varlink::Json& reply) { take(kind, reply); }),
      processes_(processes),
      rhythm_(means_.now()) {}

Follower::~Follower() = default;

Result<Done> Follower::start() {
  const auto unused = unused_.attach(
      means_.event, kFollowing, [this] { close_if_unused(); }, kAccuracy);
  if (!unused) return unused;
  const auto waited = longest_wait_.attach(means_.event, kFollowing, [this] { end_wait(); });
  if (!waited) return waited;
  const auto checked = check_.attach(means_.event, kFollowing, [this] {
    if (has_numbers()) end_wait();
  });
  if (!checked) return checked;
  unused_.set_after(rhythm_.end() - means_.now());
  return open();
}

Result<Done> Follower::open() {
  decided_ = false;
  waits_for_power_ = true;
  begin_wait();
  streams_ = std::make_unique<client::Streams>(means_.event, plan_, events());
  return streams_->start();
}

void Follower::begin_wait() {
  waiting_ = true;
  longest_wait_.set_after(kLongestWait);
}

void Follower::scrape() {
  const Nanoseconds now = means_.now();
  rhythm_.scraped(now);
  unused_.set_after(rhythm_.end() - now);
  if (is_following()) {
    if (waiting_ || !may_wait_ || !has_any_rows() || has_all_rows()) return;
    was_up_ = streams_->is_up();
    begin_wait();
    return;
  }
  if (const auto opened = open(); !opened) {
    streams_.reset();
    longest_wait_.stop();
    waiting_ = was_up_ = false;
    report(false, opened.error().message);
  }
}

void Follower::close_if_unused() {
  if (!is_following()) return;
  const Nanoseconds left = rhythm_.end() - means_.now();
  if (waiting_ || left > left.zero()) {
    unused_.set_after(std::max<Nanoseconds>(left, kLongestWait));
    return;
  }
  was_up_ = streams_->is_up();
  streams_.reset();
  ticks_.forget_all();
  processes_.pause();  // before the rows that it refers to
  for (const client::KindInfo& info : client::kKinds) snapshot_.forget(info.kind);
}

void Follower::end_wait() {
  longest_wait_.stop();
  if (!std::exchange(waiting_, false)) return;
  waits_for_power_ = may_wait_ = false;
  means_.arrived();
}

client::Streams::Events Follower::events() {
  return {.reply =
              [this](Kind kind, varlink::Json reply) {
                ticks_.add(kind, std::move(reply));
                if (kind == Kind::kZones) keep_step();
                if (waiting_) check_.request();
              },
          .lost =
              [this](Kind kind) {
                ticks_.forget(kind);
                // Nothing is lost of a stream that has sent nothing yet.
                if (kind == Kind::kProcesses && snapshot_.has(kind)) processes_.forget();
                snapshot_.forget(kind);
                may_wait_ = true;
                if (waiting_) check_.request();
              },
          .changed =
              [this](bool up, const std::string& reason) {
                decided_ = true;
                report(up, reason);
                if (waiting_) check_.request();
              }};
}

// Logs it unless it is what was logged last: streams that are opened again report what is known.
void Follower::report(bool up, const std::string& reason) {
  const std::string text = up ? std::string() : reason;
  if (std::exchange(reported_any_, true) && text == reported_) return;
  reported_ = text;
  up ? log_info("keplerd answers") : log_warning("keplerd does not answer: " + reason);
}

// Whether the kind is followed in the same way as the zones: at public ticks too, or neither of them.
bool Follower::is_like_zones(Kind kind) const {
  const auto wanted = std::ranges::find(plan_.wanted, kind, &client::Streams::Plan::Wanted::kind);
  return wanted != plan_.wanted.end() && wanted->in_full == plan_.wanted.front().in_full;
}

// Called just after a sample: a stream opened now gets this one, and then the same ones as the zones.
void Follower::keep_step() {
  const Kinds late = ticks_.out_of_step();
  for (const client::KindInfo& info : client::kKinds) {
    if (late.test(index_of(info.kind)) && is_like_zones(info.kind)) streams_->reopen(info.kind);
  }
}

void Follower::take(Kind kind, const varlink::Json& reply) {
  // Totals that were reset during a pause do not show what was used in it.
  const std::string instance = client::text(reply, "instanceId");
  if (std::exchange(instance_, instance) != instance) processes_.forget();
  snapshot_.apply(kind, reply);
  if (kind == Kind::kProcesses && snapshot_.has(kind)) processes_.take(snapshot_.processes());
  const bool may_balance = kind == Kind::kProcesses || kind == Kind::kZones;
  if (may_balance && snapshot_.are_processes_current()) processes_.balance(snapshot_.active());
}

bool Follower::has_any_rows() const {
  return std::ranges::any_of(plan_.wanted, [this](const auto& wanted) { return snapshot_.has(wanted.kind); });
}

bool Follower::has_all_rows() const {
  const bool are_all_there = std::ranges::all_of(plan_.wanted, [this](const auto& wanted) {
    return snapshot_.has(wanted.kind) || !streams_->is_open(wanted.kind);
  });
  const bool is_balanced =
      !snapshot_.has(Kind::kProcesses) || !is_like_zones(Kind::kProcesses) || processes_.others() != nullptr;
  return streams_->is_up() && are_all_there && is_balanced;
}

// Whether everything to be shown has arrived, or nothing is expected for now. A keplerd that has just been
// started has no power before its second sample.
bool Follower::has_numbers() const {
  if (!decided_) return false;
  if (!streams_->is_up() && !has_any_rows()) return true;
  if (!has_all_rows()) return false;
  const auto& host = snapshot_.host();
  return !waits_for_power_ || !host || host->source == kNoSource || host->all.power;
}

}  // namespace keplerd::exporter
