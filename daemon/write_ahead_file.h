// SPDX-License-Identifier: Apache-2.0
// The file of the write-ahead log (ledger/log/writer.h). It lies where memory outlives the process but not
// the boot (/run), so that it never needs to be synced.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"

namespace keplerd {

class WriteAheadFile {
 public:
  explicit WriteAheadFile(std::string path) : path_(std::move(path)) {}

  // Reads all of it; empty if it does not exist.
  Result<std::string> read() const;

  // Continues after its first `length` bytes.
  Result<Done> open_at(std::size_t length);
  // Starts over with an empty file.
  Result<Done> create();
  bool is_open() const { return static_cast<bool>(fd_); }

  // Appends with one write(2). A file that cannot be written to is removed: a partial log is useless.
  Result<Done> append(std::string_view record);

  // Drops the first `length` bytes, atomically.
  Result<Done> drop(std::size_t length);

  // Also where it is not open; well if there is none. What cannot be removed is emptied if it can be.
  Result<Done> remove();

  std::size_t size() const { return size_; }

 private:
  Result<UniqueFd> open(int flags) const;

  std::string path_;
  UniqueFd fd_;
  std::size_t size_ = 0;
};

}  // namespace keplerd
