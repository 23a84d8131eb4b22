// SPDX-License-Identifier: Apache-2.0
// Books what is drawn between readings, and writes it every five minutes, and before it is asked for.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "history/booking.h"
#include "history/reading.h"
#include "history/store/store.h"

namespace keplerd::history {

class Recorder {
 public:
  // `log` gets a message when writing fails, and when it works again.
  using Log = std::function<void(bool failed, const std::string& message)>;
  Recorder(Store store, Log log) : store_(std::move(store)), log_(std::move(log)) {}

  // Called after each write, with the time of the reading that is the last one in the database.
  void on_written(std::function<void(Time reading)> written) { written_ = std::move(written); }

  void take(const Reading& reading);

  // Writes what is not written yet.
  void flush();

  Store& store() { return store_; }
  // Why the last write failed; empty: it did not.
  const std::string& problem() const { return problem_; }

 private:
  Store store_;
  Log log_;
  std::function<void(Time reading)> written_;
  Bookings bookings_;
  Store::Names names_;            // of the workloads in them
  std::optional<Baseline> last_;  // the last reading taken; unset: that of the store
  std::string problem_;
};

}  // namespace keplerd::history
