// SPDX-License-Identifier: Apache-2.0
// Which VM holds each id, and with it the account: an id is bound to its first owner, with the best evidence
// seen. Ids stay bound while their accounts are kept, whether or not their VMs are running.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "workloads/owner.h"
#include "workloads/vm_evidence.h"

namespace keplerd {

class VmIds {
 public:
  // Binds an id, or raises its evidence.
  void bind(const std::string& id, Uid owner, VmEvidence evidence);
  void erase(std::string_view id);

  bool is_anothers(std::string_view id, Uid owner) const;

  // Whether there was better evidence for the id. A scope is as good as a record: both are created by root,
  // and a record disappears before its VM does.
  bool has_better(std::string_view id, VmEvidence evidence) const;

  // The evidence of a bound id.
  VmEvidence evidence(std::string_view id) const;

  // `id`, prefixed with `owner` if it belongs to another one.
  std::string free_for(Uid owner, std::string id) const;

  // Moves the account of a bound id to another id, which it returns.
  std::string rename(const std::string& id);

 private:
  struct Binding {
    Uid owner = kRootUser;
    VmEvidence evidence = VmEvidence::kGuess;
  };
  std::map<std::string, Binding, std::less<>> bindings_;
};

}  // namespace keplerd
