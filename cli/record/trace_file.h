// SPDX-License-Identifier: Apache-2.0
// The file that a trace is recorded to. A trace names what runs on the host: the file is created for its
// owner alone, and is never one that another user has put in its place.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"
#include "varlink/json.h"

namespace keplerd::cli::record {

class TraceFile {
 public:
  // Opens the trace at `path` to go on with it, or creates it, accessible to its owner only. Fails if it is
  // no trace, a link, another user's or being recorded to, or if the path leads through another user's link.
  static Result<TraceFile> open(const std::string& path);

  // The first header; null if the file is new.
  const varlink::Json& header() const { return header_; }

  // Up to the end of the last complete line.
  std::uint64_t size() const { return size_; }

  // Appends complete lines; the first time, what follows the last complete line is cut. If they cannot be
  // written the file ends where it did.
  Result<Done> append(std::string_view lines);

  // Waits until everything is on the disk.
  Result<Done> finish();

 private:
  TraceFile(UniqueFd file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}
  Result<Done> check() const;
  Result<Done> read_header();
  Result<Done> find_end();
  Result<Done> cut();

  UniqueFd file_;
  std::string path_;
  varlink::Json header_;
  std::uint64_t size_ = 0;
  bool is_cut_ = false;
};

// The first line of a trace, or nothing if that is something else.
std::optional<varlink::Json> parse_header(std::string_view line);

// Why a recording that begins with the header `next` cannot go on in a file that begins with `first` (null:
// it is new); empty if it can.
std::string mismatch(const varlink::Json& first, const varlink::Json& next);

}  // namespace keplerd::cli::record
