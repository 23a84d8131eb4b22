// SPDX-License-Identifier: Apache-2.0
#include "cli/output/fd_buffer.h"

#include <cerrno>

#include <unistd.h>

namespace keplerd::cli {

FdBuffer::int_type FdBuffer::overflow(int_type character) {
  if (sync() != 0) return traits_type::eof();
  if (!traits_type::eq_int_type(character, traits_type::eof())) sputc(traits_type::to_char_type(character));
  return traits_type::not_eof(character);
}

int FdBuffer::sync() {
  for (const char* next = pbase(); error_ == 0 && next != pptr();) {
    const ssize_t written = ::write(fd_, next, static_cast<std::size_t>(pptr() - next));
    if (written >= 0) {
      next += written;
    } else if (errno != EINTR) {
      error_ = errno;
    }
  }
  setp(bytes_.data(), bytes_.data() + bytes_.size());
  return error_ == 0 ? 0 : -1;
}

}  // namespace keplerd::cli
