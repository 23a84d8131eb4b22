// SPDX-License-Identifier: Apache-2.0
// Who has which VM's id, and with it the account: its first owner, by the best evidence that there was. Ids
// stay bound while their accounts are kept, whether their VMs run or not.
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

  // Whether the id had better evidence than this. A scope is as good as a record: root has made both, and a
  // record is gone before its VM is.
  bool has_better(std::string_view id, VmEvidence evidence) const;

  // Of what is bound.
  VmEvidence evidence(std::string_view id) const;

  // `id`, with `owner` in front where it is another's.
  std::string free_for(Uid owner, std::string id) const;

  // Gives the account of a bound id another id, which it returns.
  std::string rename(const std::string& id);

 private:
  struct Binding {
    Uid owner = kRootUser;
    VmEvidence evidence = VmEvidence::kGuess;
  };
  std::map<std::string, Binding, std::less<>> bindings_;
};

}  // namespace keplerd
