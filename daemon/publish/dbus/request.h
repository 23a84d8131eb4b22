// SPDX-License-Identifier: Apache-2.0
// One message of a client: its sender, and the report that it is answered from. GetAll reads some thirty
// properties one by one, which must all come from the same instant.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "daemon/publish/dbus/bus_compat.h"
#include "daemon/publish/dbus/names.h"
#include "daemon/publish/reports.h"
#include "report/row_kinds.h"

namespace keplerd::dbus {

struct Sender {
  std::string name;          // unique
  Caller caller;             // unknown until it is looked up
  std::string path;          // of the requested object
  bool interactive = false;  // the user may be asked for a password
};

class Request {
 public:
  explicit Request(Reports& reports) : reports_(reports) {}

  // Called before and after each message: resets the sender.
  void begin() { begin(Sender{}); }
  void begin(Sender sender) {
    sender_ = std::move(sender);
    view_ = {};
    is_inside_ = false;
  }
  // For keplerd's own work: does not request a fresher report in this turn.
  void begin_inside() {
    begin({.name = {}, .caller = kInside, .path = {}});
    view_ = latest(kInside);
    is_inside_ = true;
  }

  const Sender& sender() const { return sender_; }

  // The sender's view. Throws AccessDenied if it is empty.
  const Report& get() {
    if (!view_) view_ = reports_.fresh(sender_.caller, {});
    if (!view_) throw make_error(kAccessDenied, kDenied);
    return *view_.report;
  }
  const Report& operator*() { return get(); }
  // The same, with the rows of this kind. Ask for processes first: a report that was taken without them is
  // replaced.
  const ReportView& with(RowKind kind) {
    if (kind == RowKind::kProcesses && !view_.processes)
      view_ = is_inside_ ? latest(sender_.caller, kind) : reports_.fresh(sender_.caller, kind);
    get();
    return view_;
  }

  // The error for an object that does not exist for the sender: libsystemd's for any missing
  // object.
  sdbus::Error unknown_object() const {
    return make_error(kUnknownObject, "Unknown object '" + sender_.path + "'.");
  }

  ReportView latest(const Caller& caller, std::optional<RowKind> kind = {}) {
    return reports_.latest(caller, kind);
  }
  std::shared_ptr<const Listener> listen(Nanoseconds wanted, std::optional<RowKind> kind) {
    return reports_.listen(
        {.full = sender_.caller.full, .wanted = wanted, .processes = kind == RowKind::kProcesses});
  }
  const Settings& settings() const { return reports_.settings(); }
  RowOrders& orders() { return reports_.orders(); }

 private:
  static constexpr char kDenied[] =
      "access denied: only root and members of the group keplerd may query keplerd (Public=none, "
      "keplerd.conf(5))";

  Reports& reports_;
  Sender sender_;
  ReportView view_;
  bool is_inside_ = false;
};

}  // namespace keplerd::dbus
