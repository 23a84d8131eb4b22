// SPDX-License-Identifier: Apache-2.0
#include "trace/keyed_hash.h"

#include <bit>
#include <cstddef>

namespace keplerd {
namespace {

struct State {
  std::uint64_t a, b, c, d;

  void mix(int rounds) {
    for (int i = 0; i < rounds; ++i) {
      a += b;
      c += d;
      b = std::rotl(b, 13) ^ a;
      d = std::rotl(d, 16) ^ c;
      a = std::rotl(a, 32);
      c += b;
      a += d;
      b = std::rotl(b, 17) ^ c;
      d = std::rotl(d, 21) ^ a;
      c = std::rotl(c, 32);
    }
  }

  void take(std::uint64_t word) {
    d ^= word;
    mix(2);
    a ^= word;
  }
};

// Up to eight bytes, the first one lowest.
std::uint64_t word_of(std::string_view bytes) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    word |= std::uint64_t{static_cast<std::uint8_t>(bytes[i])} << (8 * i);
  return word;
}

}  // namespace

std::uint64_t keyed_hash(const HashKey& key, std::string_view text) {
  State state{key[0] ^ 0x736f6d6570736575, key[1] ^ 0x646f72616e646f6d, key[0] ^ 0x6c7967656e657261,
              key[1] ^ 0x7465646279746573};
  const std::uint64_t length = std::uint64_t{text.size()} << 56;
  for (; text.size() >= 8; text.remove_prefix(8)) state.take(word_of(text.substr(0, 8)));
  state.take(length | word_of(text));
  state.c ^= 0xff;
  state.mix(4);
  return state.a ^ state.b ^ state.c ^ state.d;
}

}  // namespace keplerd
