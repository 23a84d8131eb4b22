// SPDX-License-Identifier: Apache-2.0
// Which calls wait for polkit, and what polkit is asked: the bookkeeping, with every bound. Pure; the time is
// injected.
//
// Each client has at most one question of each kind under way, and each user at most one that lets polkit ask
// for a password; after such a question was refused, the user is not asked again for kRefusalHolds, whatever
// connection the next call comes from.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace keplerd::dbus {

class Authorizations {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Question = std::uint64_t;  // from 1, never used twice

  // Calls that wait, and questions to polkit under way.
  static constexpr std::size_t kMostCallsOfClient = 16, kMostCallsOfUser = 64, kMostCalls = 512;
  static constexpr std::size_t kMostQuestionsOfUser = 4, kMostQuestions = 64;
  static constexpr std::chrono::seconds kRefusalHolds{10};

  enum class Step {
    kAnswer,   // at once, with what the client may see already
    kWait,     // for `question`
    kAsk,      // polkit `question`, and wait for it
    kTooMany,  // calls wait already
  };
  struct Decision {
    Step step = Step::kAnswer;
    Question question = 0;
    bool interactive = false;  // the question lets polkit ask the user
  };

  // A call of a client without full access. `user`: Caller::payer(), so that a login is one.
  // `interactive`: it lets the user be asked.
  Decision call(const std::string& client, std::uint64_t user, bool interactive, Time now);

  // A question ended, and nothing waits for it any more; anything but an authorization is a refusal. Returns
  // the client; nothing where it has left.
  std::optional<std::string> answered(Question question, bool authorized, Time now);

  // A client has left, and its calls wait no more. Returns its questions, to be cancelled. They still count
  // until they are answered.
  std::vector<Question> left(const std::string& client);

  std::size_t calls() const { return calls_; }
  std::size_t questions() const { return questions_.size(); }

 private:
  struct Asked {
    std::optional<std::string> client;  // unset: it has left
    std::uint64_t user;
    bool interactive;
    std::size_t calls = 0;  // that wait for it
  };
  struct Client {
    std::size_t calls = 0;
    std::optional<Question> asked[2];  // the second: interactive
    std::optional<Time> refused;       // the last time
  };
  struct User {
    std::size_t calls = 0, questions = 0;
    bool interactive = false;     // a question that lets polkit ask is under way
    std::optional<Time> refused;  // such a one, the last time
  };

  User& known_user(std::uint64_t user, Time now);

  std::map<std::string, Client> clients_;
  std::map<std::uint64_t, User> users_;
  std::map<Question, Asked> questions_;
  std::size_t calls_ = 0;
  Question last_ = 0;
};

}  // namespace keplerd::dbus
