// SPDX-License-Identifier: Apache-2.0
#include "history/request/readers.h"

#include <exception>
#include <utility>

namespace keplerd::history {
namespace {

// Each has a cache of 2 MB at most.
constexpr std::size_t kMostLimited = 8, kMostFull = 8;

}  // namespace

Readers::Readers(std::string path, std::function<void()> returned)
    : path_(std::move(path)), returned_(std::move(returned)) {}

std::unique_ptr<Readers::Reader> Readers::lend(std::optional<uid_t> user) {
  const bool is_free = user ? users_.size() < kMostLimited && !users_.contains(*user) : full_ < kMostFull;
  if (!is_free) return nullptr;
  return std::unique_ptr<Reader>(new Reader(*this, user));
}

Readers::Reader::Reader(Readers& readers, std::optional<uid_t> user) : readers_(readers), user_(user) {
  if (readers_.idle_.empty()) {
    database_ = std::make_unique<Database>(readers_.path_, true);
  } else {
    database_ = std::move(readers_.idle_.back());
    readers_.idle_.pop_back();
  }
  database_->run("BEGIN");
  user_ ? void(readers_.users_.insert(*user_)) : void(++readers_.full_);
}

Readers::Reader::~Reader() {
  try {
    database_->run("ROLLBACK");
    readers_.idle_.push_back(std::move(database_));
  } catch (const std::exception&) {  // it is closed
  }
  user_ ? void(readers_.users_.erase(*user_)) : void(--readers_.full_);
  readers_.returned_();
}

}  // namespace keplerd::history
