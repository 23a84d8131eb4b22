// SPDX-License-Identifier: Apache-2.0
// /proc/stat (proc_stat(5)), which is read with every sample: opened once, where that is possible (KeptFile).
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "host/kept_file.h"

namespace keplerd {

class StatFile {
 public:
  // `procfs`: descriptor of a /proc; it must stay open as long as this is used.
  explicit StatFile(int procfs) : procfs_(procfs) {}

  // The whole file; the view is valid until the next call.
  Result<std::string_view> read();
  // Its beginning, as far as the buffer goes. The first line, of all CPUs, fits into kFirstLine.
  static constexpr std::size_t kFirstLine = 512;
  Result<std::string_view> read_beginning(std::span<char> buffer);

 private:
  Result<Done> open();

  int procfs_;
  KeptFile file_;
  std::string text_;
};

}  // namespace keplerd
