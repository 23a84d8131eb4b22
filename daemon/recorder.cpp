// SPDX-License-Identifier: Apache-2.0
#include "daemon/recorder.h"

#include <algorithm>
#include <unordered_set>

#include "report/report.h"

namespace keplerd {
namespace {

constexpr std::size_t kMostWaiting = 32 << 20;  // bytes
constexpr std::size_t kMostRecordings = 4;

// Those that have a cgroup of their own.
std::vector<TracedVm> traced_vms(const Report& report) {
  std::vector<TracedVm> vms;
  std::unordered_set<std::string_view> paths;
  for (const VmRow& vm : report.vms) {
    if (vm.running && vm.info->unit && paths.insert(*vm.info->unit).second)
      vms.push_back({*vm.info->unit, vm.info->id});
  }
  return vms;
}

}  // namespace

void Recording::take(const Sample& sample, std::span<const Zone> zones, std::span<const TracedVm> vms) {
  if (text_.size() - taken_ > kMostWaiting) {
    writer_.leave_out(sample);
    return;
  }
  text_.erase(0, taken_);
  taken_ = 0;
  text_ += writer_.write(sample, zones, vms);
}

std::string Recording::take_text(std::size_t most) {
  std::string piece = text_.substr(taken_, most);
  taken_ += piece.size();
  if (taken_ < text_.size()) return piece;
  text_ = {};
  taken_ = 0;
  return piece;
}

std::shared_ptr<Recording> Recorder::start(TraceSettings settings) {
  std::erase_if(recordings_, [](const auto& recording) { return recording.expired(); });
  if (recordings_.size() == kMostRecordings) return nullptr;
  auto recording = std::make_shared<Recording>(std::move(settings));
  recordings_.push_back(recording);
  return recording;
}

bool Recorder::is_active() const {
  return std::ranges::any_of(recordings_, [](const auto& recording) { return !recording.expired(); });
}

void Recorder::take(const Sample& sample, std::span<const Zone> zones, const Report& report) {
  if (!is_active()) return;
  const auto vms = traced_vms(report);
  for (const auto& recording : recordings_)
    if (const auto held = recording.lock()) held->take(sample, zones, vms);
}

}  // namespace keplerd
