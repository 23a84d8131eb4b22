// SPDX-License-Identifier: Apache-2.0
// A value, or the reason why there is none. Errors that a host can cause (a missing file, garbage in a
// counter) are returned this way; exceptions are for start-up and for the edges of libraries that throw.
#pragma once

#include <cassert>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace keplerd {

struct Error {
  std::string
      message;   // whole sentence fragment with the path or the input: "/sys/x/energy_uj: not a number"
  int code = 0;  // errno if a system call failed, else 0
};

// "SUBJECT: Permission denied" from errno.
Error system_error(std::string_view subject, int code);

// Whether it came from a want of descriptors or memory, and says nothing of what was to be read.
bool is_shortage(const Error& error);

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  const T& operator*() const& { return value(); }
  T& operator*() & { return value(); }
  T&& operator*() && { return std::move(value()); }
  const T* operator->() const { return &value(); }
  T* operator->() { return &value(); }

  const Error& error() const {
    assert(!ok());
    return *std::get_if<1>(&state_);
  }

 private:
  const T& value() const {
    assert(ok());
    return *std::get_if<0>(&state_);
  }
  T& value() {
    assert(ok());
    return *std::get_if<0>(&state_);
  }

  std::variant<T, Error> state_;
};

struct Done {};  // for an operation that yields nothing: Result<Done>

}  // namespace keplerd
