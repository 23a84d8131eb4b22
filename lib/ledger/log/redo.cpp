// SPDX-License-Identifier: Apache-2.0
#include "ledger/log/redo.h"

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "ledger/log/records.h"
#include "ledger/log/row.h"
#include "ledger/log/states.h"
#include "ledger/log/usage.h"
#include "ledger/state_checks.h"

namespace keplerd {
namespace {

template <class State>
const std::string& id_of(const State& state) {
  return state.info.id;
}
const std::string& id_of(const UnitState& unit) { return unit.id; }

// A state while it is brought forward: its rows by their ids.
class Redo {
 public:
  explicit Redo(const LedgerState& state) : state_(state) {
    fill(state.units, units_);
    for (const ContainerState& container : state.containers)
      (container.info.is_pod ? pods_ : containers_).insert_or_assign(container.info.id, container);
    fill(state.vms, vms_);
  }

  void save_point(ByteReader& in) {
    processes_.clear();
    for (std::size_t left = in.count(); left > 0; --left) redo_process(in);
    usage_.save_point(in);
  }

  // A run gives up rows before its first record: it has no others than those in it.
  void whole(ByteReader& in) {
    units_.clear();
    containers_.clear();
    pods_.clear();
    vms_.clear();
    processes_.clear();
    sample(in);
  }

  void sample(ByteReader& in) {
    state_.saved = Realtime(in.amount());
    state_.discarded_windows = static_cast<std::uint64_t>(in.amount());
    get_list(in, state_.zones, get_zone);
    get_list(in, state_.readings, get_reading);
    redo_rows(in, units_);
    redo_rows(in, containers_);
    redo_rows(in, pods_);
    redo_rows(in, vms_);
    for (auto row = LogRow{in.byte()}; row != LogRow::kEnd; row = LogRow{in.byte()}) {
      if (row == LogRow::kRemoved) {
        processes_.erase(get_process_id(in));
      } else {
        redo_process(in);
      }
    }
    usage_.sample(in);
  }

  LedgerState result() {
    take(units_, state_.units);
    take(containers_, state_.containers);
    for (auto& [id, pod] : pods_) state_.containers.push_back(std::move(pod));
    take(vms_, state_.vms);
    state_.processes.clear();
    for (auto& [id, process] : processes_) state_.processes.push_back(std::move(process));
    // Nothing that is saved goes above these (state_checks.h), so that no sum of the few zones overflows.
    Microjoules outside = energy_of_workloads(state_.zones);
    for (const UnitState& unit : state_.units) {
      if (__builtin_sub_overflow(outside.value, unit.own.value, &outside.value))
        throw Malformed{"a sum is out of range"};
    }
    if (outside < Microjoules{}) throw Malformed{"units have more than there was"};
    state_.outside_other = outside;
    for (const ProcessState& process : state_.processes) {
      if (process.energy.size() > state_.zones.size())
        throw Malformed{"a process has more zones than there are"};
    }
    state_.usage = usage_.result();
    return std::move(state_);
  }

 private:
  template <class State>
  using Rows = std::map<std::string, State>;

  template <class State>
  static void fill(const std::vector<State>& states, Rows<State>& rows) {
    for (const State& state : states) rows.insert_or_assign(id_of(state), state);
  }

  // A path's parts stand before what is below it in this order, too.
  template <class State>
  static void take(Rows<State>& rows, std::vector<State>& states) {
    states.clear();
    for (auto& [id, row] : rows) states.push_back(std::move(row));
  }

  template <class T>
  static void get_list(ByteReader& in, std::vector<T>& list, T (*get)(ByteReader&)) {
    list.clear();
    for (std::size_t left = in.count(); left > 0; --left) list.push_back(get(in));
  }

  template <class State>
  void redo_rows(ByteReader& in, Rows<State>& rows) {
    for (auto row = LogRow{in.byte()}; row != LogRow::kEnd; row = LogRow{in.byte()}) {
      const std::string id = in.text();
      if (row == LogRow::kRemoved) {
        rows.erase(id);
        continue;
      }
      if (row == LogRow::kDescribed) {
        get_described(id, in.text(), state_.zones.size(), rows[id]);
      }
      const auto changed = rows.find(id);
      if (changed == rows.end()) throw Malformed{"a row that is not there has changed"};
      get_numbers(in, changed->second);
    }
  }

  void redo_process(ByteReader& in) {
    ProcessState process = get_process(in);
    processes_.insert_or_assign(process.id, std::move(process));
  }

  LedgerState state_;
  Rows<UnitState> units_;
  Rows<ContainerState> containers_, pods_;
  Rows<VmState> vms_;
  std::map<ProcessId, ProcessState> processes_;
  RedoneUsage usage_;
};

// Of which saved state, before its processes.
std::pair<std::string, Realtime> get_save_point(ByteReader& in) {
  std::string instance = in.text();
  return {std::move(instance), Realtime(in.number())};
}

}  // namespace

Result<Redone> redo(std::string_view log, LedgerState& state) {
  try {
    RecordReader records(log);
    std::optional<Redo> redo;  // from the save point on
    bool is_of_another = false;
    while (const auto payload = records.next()) {
      ByteReader in(*payload);
      const auto kind = RecordKind{in.byte()};
      if (kind == RecordKind::kSavePoint) {
        const auto [instance, saved] = get_save_point(in);
        if (instance != state.instance_id) {
          is_of_another = is_of_another || saved > state.saved;
        } else if (saved == state.saved) {
          redo.emplace(state);
        }
        if (redo) redo->save_point(in);
      } else if (kind == RecordKind::kWhole && redo) {
        redo->whole(in);
      } else if (kind == RecordKind::kSample && redo) {
        redo->sample(in);
      }
    }
    if (redo) {
      LedgerState redone = redo->result();
      // What holds for a state that is read from the disk holds for this one.
      auto checked = parse_state(format_state(redone));
      if (!checked) return checked.error();
      checked->processes = std::move(redone.processes);
      checked->usage = std::move(redone.usage);
      state = *std::move(checked);
    }
    return Redone{.matches = redo.has_value(),
                  .is_of_another = is_of_another && !redo,
                  .length = log.size() - records.left()};
  } catch (const Malformed& malformed) {
    return Error{malformed.what};
  }
}

}  // namespace keplerd
