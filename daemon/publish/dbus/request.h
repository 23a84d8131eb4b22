// SPDX-License-Identifier: Apache-2.0
// One message of a client: who sent it, and the report that it is answered from. GetAll reads some thirty
// properties one by one, and all must be of one instant.
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
  Caller caller;             // nobody, as long as it is not known
  std::string path;          // of the object that was asked
  bool interactive = false;  // it lets the user be asked for a password
};

class Request {
 public:
  explicit Request(Reports& reports) : reports_(reports) {}

  // Before and after each message: it is nobody's.
  void begin() { begin(Sender{}); }
  void begin(Sender sender) {
    sender_ = std::move(sender);
    view_ = {};
  }
  // For keplerd's own work: nothing fresher is asked for in this turn.
  void begin_inside() {
    begin({.name = {}, .caller = kInside, .path = {}});
    view_ = latest(kInside);
  }

  const Sender& sender() const { return sender_; }

  // What the sender may see. Throws AccessDenied where that is nothing.
  const Report& get() {
    if (!view_) view_ = reports_.fresh(sender_.caller, {});
    if (!view_) throw make_error(kAccessDenied, kDenied);
    return *view_.report;
  }
  const Report& operator*() { return get(); }
  // The same, with the rows of this kind.
  const ReportView& with(RowKind kind) {
    get();
    if (kind == RowKind::kProcesses && !view_.processes) view_ = latest(sender_.caller, kind);
    return view_;
  }

  // The same for an object that is not there for the sender: as libsystemd says it of one that is nowhere.
  sdbus::Error unknown_object() const {
    return make_error(kUnknownObject, "Unknown object '" + sender_.path + "'.");
  }

  ReportView latest(const Caller& caller, std::optional<RowKind> kind = {}) {
    return reports_.latest(caller, kind);
  }
  std::shared_ptr<const Listener> listen(Nanoseconds wanted) {
    return reports_.listen(sender_.caller, wanted);
  }
  const Settings& settings() const { return reports_.settings(); }
  RowOrders& orders() { return reports_.orders(); }

 private:
  static constexpr char kDenied[] =
      "keplerd answers root and members of the group keplerd only (Public=none, keplerd.conf(5))";

  Reports& reports_;
  Sender sender_;
  ReportView view_;
};

}  // namespace keplerd::dbus
