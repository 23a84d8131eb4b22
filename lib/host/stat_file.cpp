// SPDX-License-Identifier: Apache-2.0
#include "host/stat_file.h"

#include <utility>

namespace keplerd {
namespace {

// Its line of interrupt counts grows with the machine: some 100 KiB on the largest ones.
constexpr std::size_t kLimit = 4 << 20;

}  // namespace

Result<Done> StatFile::open() {
  if (file_) return Done{};
  auto file = KeptFile::open(procfs_, "stat");
  if (!file) return file.error();
  file_ = *std::move(file);
  return Done{};
}

Result<std::string_view> StatFile::read() {
  const auto opened = open();
  if (!opened) return opened.error();
  return file_.read_list(text_, kLimit);
}

Result<std::string_view> StatFile::read_beginning(std::span<char> buffer) {
  const auto opened = open();
  if (!opened) return opened.error();
  return file_.read_beginning(buffer);
}

}  // namespace keplerd
