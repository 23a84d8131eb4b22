// SPDX-License-Identifier: Apache-2.0
// What prevents a program from reading its meters: in its meter directory as long as it lasts, for `keplerctl
// doctor`, and once in the log.
#pragma once

#include <functional>
#include <string>
#include <utility>

namespace keplerd::meters {

class ProblemReport {
 public:
  struct Outputs {
    std::function<void(const std::string& problem)> write;  // empty: there is none
    std::function<void(const std::string&message)> warn, inform;
  };
  explicit ProblemReport(Outputs outputs) : outputs_(std::move(outputs)) {}

  // Empty: the meters have been read. A text that differs from the last one in its numbers only is the same
  // problem: it is not reported again.
  void set(const std::string& problem);

 private:
  Outputs outputs_;
  std::string kind_;
};

// To the directory, and to stderr.
ProblemReport::Outputs report_in(const std::string& directory);

}  // namespace keplerd::meters
