// SPDX-License-Identifier: Apache-2.0
// Keeps track of the calls that wait for polkit and of the questions sent to it, with all limits. Pure; the
// time is injected.
//
// Each client has at most one pending question of each kind, and each user at most one that lets polkit ask
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
  using Question = std::uint64_t;  // starts at 1, never reused

  // Waiting calls, and pending questions to polkit.
  static constexpr std::size_t kMostCallsOfClient = 16, kMostCallsOfUser = 64, kMostCalls = 512;
  static constexpr std::size_t kMostQuestionsOfUser = 4, kMostQuestions = 64;
  static constexpr std::chrono::seconds kRefusalHolds{10};

  enum class Step {
    kAnswer,   // immediately, with what the client may already see
    kWait,     // for `question`
    kAsk,      // send `question` to polkit, and wait for it
    kTooMany,  // calls waiting already
  };
  struct Decision {
    Step step = Step::kAnswer;
    Question question = 0;
    bool interactive = false;  // polkit may ask the user
  };

  // A call of a client without full access. `user`: Caller::payer(), so that a login counts as one.
  // `interactive`: the call allows the user to be asked.
  Decision call(const std::string& client, std::uint64_t user, bool interactive, Time now);

  // A question was answered, and nothing waits for it any more; anything but an authorization is a refusal.
  // Returns the client; nothing if it has left.
  std::optional<std::string> answered(Question question, bool authorized, Time now);

  // A client has left, and its calls no longer wait. Returns its questions, to be cancelled. They still count
  // until they are answered.
  std::vector<Question> left(const std::string& client);

  std::size_t calls() const { return calls_; }
  std::size_t questions() const { return questions_.size(); }

 private:
  struct Asked {
    std::optional<std::string> client;  // unset: it has left
    std::uint64_t user;
    bool interactive;
    std::size_t calls = 0;  // waiting for it
  };
  struct Client {
    std::size_t calls = 0;
    std::optional<Question> asked[2];  // the second: interactive
    std::optional<Time> refused;       // the last time
  };
  struct User {
    std::size_t calls = 0, questions = 0;
    bool interactive = false;     // a question that lets polkit ask is pending
    std::optional<Time> refused;  // of such a question, the last time
  };

  User& known_user(std::uint64_t user, Time now);

  std::map<std::string, Client> clients_;
  std::map<std::uint64_t, User> users_;
  std::map<Question, Asked> questions_;
  std::size_t calls_ = 0;
  Question last_ = 0;
};

}  // namespace keplerd::dbus
