// SPDX-License-Identifier: Apache-2.0
#include "base/pci_address.h"

#include <algorithm>

#include "base/parse.h"

namespace keplerd {
namespace {

bool is_hexadecimal(std::string_view text, std::size_t least, std::size_t most) {
  return text.size() >= least && text.size() <= most &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

std::optional<std::string> pci_address(std::string_view text) {
  constexpr std::size_t kDomain = 4, kLongest = 16;
  if (text.size() > kLongest) return std::nullopt;
  std::string address(text);
  std::ranges::transform(address, address.begin(), lower);
  std::string_view rest = address;
  const std::string_view domain = take_until(rest, ':');
  const std::string_view bus = take_until(rest, ':');
  const std::string_view device = take_until(rest, '.');
  if (!is_hexadecimal(domain, kDomain, 8) || !is_hexadecimal(bus, 2, 2) || !is_hexadecimal(device, 2, 2) ||
      !is_hexadecimal(rest, 1, 1))
    return std::nullopt;
  const std::size_t zeros = std::min(domain.find_first_not_of('0'), domain.size() - kDomain);
  return address.substr(std::min(zeros, domain.size() - kDomain));
}

}  // namespace keplerd
