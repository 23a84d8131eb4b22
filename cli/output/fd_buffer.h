// SPDX-License-Identifier: Apache-2.0
// A stream's buffer that writes to a file descriptor and keeps the error of the first write that failed:
// std::cout forgets it as soon as its buffer is full.
#pragma once

#include <array>
#include <streambuf>

namespace keplerd::cli {

class FdBuffer : public std::streambuf {
 public:
  // `fd` must stay open; it is not closed.
  explicit FdBuffer(int fd) : fd_(fd) { setp(bytes_.data(), bytes_.data() + bytes_.size()); }
  ~FdBuffer() override { FdBuffer::sync(); }
  FdBuffer(const FdBuffer&) = delete;
  FdBuffer& operator=(const FdBuffer&) = delete;

  // errno of the first failed write, after which nothing more is written; 0: none has failed.
  int error() const { return error_; }

 protected:
  int_type overflow(int_type character) override;
  int sync() override;

 private:
  int fd_;
  int error_ = 0;
  std::array<char, 8192> bytes_;
};

}  // namespace keplerd::cli
