// SPDX-License-Identifier: Apache-2.0
#include "daemon/state_keeper.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include <systemd/sd-id128.h>
#include <unistd.h>

#include "base/parse.h"
#include "config/settings.h"
#include "daemon/log.h"
#include "host/host_root.h"
#include "ledger/log/redo.h"
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
  if (source == "simulated" || source == "estimated") return "/ledger-" + source;
  return "/ledger";
}

}  // namespace

StateKeeper::StateKeeper(const HostRoot& host, StateDirectory directory, const EnergySettings& settings,
                         const std::string& log_directory)
    : directory_(std::move(directory)),
      path_(directory_.path + file_name(settings.source) + ".json"),
      unclean_path_(path_ + ".unclean"),
      earlier_path_(directory_.path + file_name(settings.source) + "-earlier.json"),
      boot_id_(read_boot_id(host)),
      has_log_(!log_directory.empty()),
      log_(log_directory + file_name(settings.source) + ".log") {}

bool StateKeeper::share_totals(const EnergySettings& a, const EnergySettings& b) {
  return file_name(a.source) == file_name(b.source);
}

StateKeeper::Restored StateKeeper::restore(Realtime now) {
  Restored empty{Ledger(new_instance_id(), now), {}, {}};
  auto loaded = load_last();
  if (!loaded) {
    log_error("totals of the last run: " + loaded.error().message +
              "; counting starts at zero and is not saved");
    usable_ = false;
    problem_ = "totals are not saved: " + loaded.error().message;
    return empty;
  }
  if (loaded->warning) log_error("totals of the last run: " + *loaded->warning + "; counting starts at zero");
  if (!loaded->state) {
    ::unlink(earlier_path_.c_str());  // it means nothing without them
    return empty;
  }
  LedgerState state = *std::move(loaded->state);
  if (state.clean && !mark_unclean(state))
    state.clean = false;
  else
    state = redo(std::move(state));
  age_models(state.models, std::chrono::duration_cast<std::chrono::seconds>(now - state.saved));
  Ledger ledger = continue_from(state);
  // What was drawn since `state` was saved may have been published under its instance id: it is not counted
  // again under another.
  const bool counts = state.boot_id == boot_id_ && ledger.instance_id() == state.instance_id;
  if (!counts) return {std::move(ledger), {}, std::move(state.models)};
  return {std::move(ledger), std::move(state.readings), std::move(state.models), std::move(state.usage)};
}

Result<LoadedState> StateKeeper::load_last() const {
  auto loaded = load_state(path_);
  if (!loaded || loaded->state || loaded->warning) return loaded;
  loaded = load_state(unclean_path_);
  if (loaded && loaded->state) loaded->state->clean = false;
  return loaded;
}

// So that the state on the disk says that more may have been published since, though no save should succeed.
// On a full disk a file can still be renamed.
bool StateKeeper::mark_unclean(LedgerState state) const {
  state.clean = false;
  const auto marked = save_state(path_, state);
  if (marked || rename_state(path_, unclean_path_)) return true;
  log_error("totals of the last run: " + marked.error().message + "; another instance id begins");
  return false;
}

// Under the same instance id where nothing was published after `state`. Else a new one begins, and `state` is
// kept as what was counted before it: a client whose counters must not count that twice subtracts it.
Ledger StateKeeper::continue_from(const LedgerState& state) {
  if (const auto earlier = load_earlier(state)) {
    const bool has_earlier = !earlier->zones.empty();
    return {state, state.instance_id, has_earlier ? &*earlier : nullptr};
  }
  if (has_log_) (void)log_.remove();  // it is of the last instance
  LedgerState unclean = state;
  unclean.clean = false;
  const std::string instance_id = new_instance_id();
  unsaved_earlier_ = unclean;
  unsaved_earlier_->instance_id = instance_id;
  if (const auto saved = save_earlier(); !saved)
    log_error("totals of the last run cannot be kept apart: " + saved.error().message);
  return {unclean, instance_id, &unclean};
}

// The totals with which the instance of `state` began; without zones if it began with none. Unset: `state`
// was not left cleanly, or that file is of no use.
std::optional<LedgerState> StateKeeper::load_earlier(const LedgerState& state) const {
  if (!state.clean) return std::nullopt;
  auto loaded = load_state(earlier_path_);
  if (!loaded || loaded->warning) {
    log_error("totals of earlier runs: " + (loaded ? *loaded->warning : loaded.error().message) +
              "; another instance id begins");
    return std::nullopt;
  }
  if (!loaded->state) return LedgerState{};
  if (loaded->state->instance_id != state.instance_id) return std::nullopt;  // one came after that of `state`
  const auto& zones = loaded->state->zones;
  const bool fits = zones.size() <= state.zones.size() &&
                    std::ranges::equal(zones, std::span(state.zones).first(zones.size()), {}, &ZoneState::id,
                                       &ZoneState::id);
  return fits ? std::move(loaded->state) : std::nullopt;
}

Result<Done> StateKeeper::save_earlier() {
  if (!unsaved_earlier_) return Done{};
  const auto saved = save_state(earlier_path_, *unsaved_earlier_);
  if (saved) unsaved_earlier_.reset();
  return saved;
}

// What the write-ahead log has since `state` was saved, on this boot. It is as if it had ended cleanly then.
// A log that cannot be continued must not be there when the next run begins: what this one publishes is not
// in it.
LedgerState StateKeeper::redo(LedgerState state) {
  if (!has_log_ || state.boot_id != boot_id_) return state;
  const auto length = redo_log(state);
  if (!length) {
    log_error("write-ahead log: " + length.error().message);
  } else if (*length) {
    const auto opened = log_.open_at(**length);
    if (opened) return state;
    fail_log(opened.error());
  }
  if (const auto removed = log_.remove(); !removed) {
    fail_log(removed.error());
    state.clean = false;
  }
  return state;
}

// Returns its length; unset where it does not continue `state`.
Result<std::optional<std::size_t>> StateKeeper::redo_log(LedgerState& state) const {
  const auto log = log_.read();
  if (!log) return log.error();
  const auto redone = keplerd::redo(*log, state);
  if (!redone) return Error{"damaged: " + redone.error().message};
  if (!redone->matches) {
    state.clean = state.clean && !redone->is_of_another;  // a run after `state` has saved nothing
    return std::optional<std::size_t>();
  }
  state.clean = true;
  return std::optional(redone->length);
}

void StateKeeper::log(const Ledger& ledger, const std::vector<SavedReading>& readings,
                      const SavedUsage& changed) {
  const std::string_view record = writer_.record(ledger, readings, changed);
  if (!log_.is_open()) return;
  if (log_.size() + record.size() > kLongestLog) {
    const auto removed = log_.remove();
    const std::string limit = std::to_string(kLongestLog >> 20);
    return fail_log(removed ? Error{"longer than " + limit + " MiB since the last save"} : removed.error());
  }
  if (const auto appended = log_.append(record); !appended) fail_log(appended.error());
}

// From here on the log continues this state, too: of use once the state is saved. Where it cannot be, it says
// that there was this run.
void StateKeeper::begin_save(LedgerState& state, bool clean) {
  state.clean = clean;
  state.boot_id = boot_id_;
  if (!has_log_) return;
  if (!log_.is_open()) {
    if (const auto created = log_.create(); !created) return fail_log(created.error());
  }
  save_point_ = log_.size();
  if (const auto appended = log_.append(save_point_record(state)); !appended) fail_log(appended.error());
}

// Until the next save.
void StateKeeper::fail_log(const Error& error) {
  if (!log_problem_) log_error("write-ahead log: " + error.message + "; after a crash totals would go back");
  log_problem_ = "after a crash totals would go back: write-ahead log: " + error.message;
}

void StateKeeper::save(LedgerState state, bool clean, Nanoseconds patience) {
  if (!usable_) return begin_save(state, clean);
  if (job_ && !job_->wait(patience)) {
    log_error("totals are not saved: the last save has not ended yet; is the disk of " + path_ + " hung?");
    return;
  }
  begin_save(state, clean);
  const auto saved = save_earlier();
  finish(saved ? save_state(path_, state) : saved);
}

void StateKeeper::save_in_background(sd_event* loop, LedgerState state) {
  if (!usable_) return begin_save(state, false);
  if (!job_) job_ = std::make_unique<BackgroundJob>(loop, "saving");
  if (job_->is_busy())
    return finish(Error{"the last save has not ended yet; is the disk of " + path_ + " hung?"});
  begin_save(state, false);
  if (const auto saved = save_earlier(); !saved) return finish(saved);
  struct Save {
    StateDirectory directory;  // locked until this save has ended
    std::string path;
    LedgerState state;
    Result<Done> saved = Error{"out of memory"};
  };
  const auto save = std::make_shared<Save>(Save{directory_, path_, std::move(state)});
  const auto started = job_->start([save] { save->saved = save_state(save->path, save->state); },
                                   [this, save] { finish(save->saved); });
  if (!started) finish(started);
}

void StateKeeper::finish(const Result<Done>& saved) {
  if (!saved && !problem_) log_error("totals cannot be saved: " + saved.error().message);
  if (saved && problem_) log_info("totals are saved again");
  if (saved) ::unlink(unclean_path_.c_str());
  problem_ = saved ? std::nullopt : std::optional("totals cannot be saved: " + saved.error().message);
  if (!saved || !log_.is_open()) return;
  (void)log_.drop(save_point_);  // where that fails the log stays as it is: longer, and as good
  if (log_problem_) log_info("the write-ahead log can be written again");
  log_problem_.reset();
}

}  // namespace keplerd
