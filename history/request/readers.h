// SPDX-License-Identifier: Apache-2.0
// Connections that requests read the database with. As long as one is lent, it sees the database as it was:
// what is written meanwhile does not change the answer. There are few of them, and of callers without full
// access each user gets one at a time: however many requests they make, memory and the log of the database
// are bounded, and nobody waits for another user's requests.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <sys/types.h>

#include "history/store/database.h"

namespace keplerd::history {

class Readers {
 public:
  // `path`: of the database. `returned` is called when one is available again; maybe while a caller is
  // destroyed.
  Readers(std::string path, std::function<void()> returned);

  // Returned when it is destroyed.
  class Reader {
   public:
    ~Reader();
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;

    Database& database() { return *database_; }

   private:
    friend class Readers;
    Reader(Readers& readers, std::optional<uid_t> user);

    Readers& readers_;
    std::optional<uid_t> user_;
    std::unique_ptr<Database> database_;
  };

  // `user`: of a caller without full access. Null: none is available. Throws DatabaseError.
  std::unique_ptr<Reader> lend(std::optional<uid_t> user);

 private:
  std::string path_;
  std::function<void()> returned_;
  std::vector<std::unique_ptr<Database>> idle_;
  std::set<uid_t> users_;  // that have one
  std::size_t full_ = 0;   // are lent to callers with full access
};

}  // namespace keplerd::history
