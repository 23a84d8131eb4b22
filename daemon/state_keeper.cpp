// SPDX-License-Identifier: Apache-2.0
#include "daemon/state_keeper.h"

#include <array>
#include <utility>

#include <systemd/sd-id128.h>

#include "base/parse.h"
#include "config/settings.h"
#include "daemon/log.h"
#include "host/host_root.h"
#include "ledger/state_file.h"

namespace keplerd {
namespace {

std::string new_instance_id() {
  sd_id128_t id{};
  if (sd_id128_randomize(&id) < 0) return "00000000000000000000000000000000";
  std::array<char, SD_ID128_STRING_MAX> text{};
  return sd_id128_to_string(id, text.data());
}

std::string read_boot_id(const HostRoot& host) {
  std::array<char, 64> buffer{};
  const auto id = read_file(host.procfs(), "sys/kernel/random/boot_id", buffer);
  return id ? std::string(trim(*id)) : std::string();
}

std::string file_name(const std::string& source) {
  if (source == "simulated" || source == "estimated") return "/ledger-" + source + ".json";
  return "/ledger.json";
}

}  // namespace

StateKeeper::StateKeeper(const HostRoot& host, StateDirectory directory, const EnergySettings& settings)
    : directory_(std::move(directory)),
      path_(directory_.path + file_name(settings.source)),
      boot_id_(read_boot_id(host)) {}

StateKeeper::Restored StateKeeper::restore(Realtime now) {
  Restored empty{Ledger(new_instance_id(), now), {}};
  auto loaded = load_state(path_);
  if (!loaded) {
    log_error("totals of the last run: " + loaded.error().message +
              "; counting starts anew and is not saved");
    usable_ = false;
    problem_ = "totals are not saved: " + loaded.error().message;
    return empty;
  }
  if (loaded->warning) log_error("totals of the last run: " + *loaded->warning);
  if (!loaded->state) return empty;
  const LedgerState& state = *loaded->state;
  return {Ledger(state, new_instance_id()),
          state.boot_id == boot_id_ ? state.readings : std::vector<SavedReading>{}};
}

void StateKeeper::save(LedgerState state, bool clean, Nanoseconds patience) {
  if (!usable_) return;
  if (job_ && !job_->wait(patience)) {
    log_error("totals are not saved: the last save has not ended yet; is the disk of " + path_ + " hung?");
    return;
  }
  state.clean = clean;
  state.boot_id = boot_id_;
  finish(save_state(path_, state));
}

void StateKeeper::save_in_background(sd_event* loop, LedgerState state) {
  if (!usable_) return;
  if (!job_) job_ = std::make_unique<BackgroundJob>(loop, "saving");
  if (job_->is_busy())
    return finish(Error{"the last save has not ended yet; is the disk of " + path_ + " hung?"});
  struct Save {
    StateDirectory directory;  // locked until this save has ended
    std::string path;
    LedgerState state;
    Result<Done> saved = Error{"out of memory"};
  };
  state.clean = false;
  state.boot_id = boot_id_;
  const auto save = std::make_shared<Save>(Save{directory_, path_, std::move(state)});
  const auto started = job_->start([save] { save->saved = save_state(save->path, save->state); },
                                   [this, save] { finish(save->saved); });
  if (!started) finish(started);
}

void StateKeeper::finish(const Result<Done>& saved) {
  if (!saved && !problem_) log_error("totals cannot be saved: " + saved.error().message);
  if (saved && problem_) log_info("totals are saved again");
  problem_ = saved ? std::nullopt : std::optional("totals cannot be saved: " + saved.error().message);
}

}  // namespace keplerd
