// SPDX-License-Identifier: Apache-2.0
#include "cli/fleet/processes.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <list>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/unique_fd.h"

namespace keplerd::cli::fleet {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr int kCannotStart = 255;

struct Pipe {
  UniqueFd read, write;
};

bool make_pipe(Pipe& pipe) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return false;
  pipe.read.reset(ends[0]);
  pipe.write.reset(ends[1]);
  return fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0;
}

// `argv` was made before the fork.
[[noreturn]] void become(char* const* argv, int output, int errors, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(kCannotStart);
  std::signal(SIGPIPE, SIG_DFL);  // keplerctl ignores it
  const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
  dup2(null, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(errors, STDERR_FILENO);
  execvp(argv[0], argv);
  dprintf(STDERR_FILENO, "%s: %s\n", argv[0], std::strerror(errno));
  _exit(kCannotStart);
}

class Running {
 public:
  // A process that cannot be made has ended at once.
  Running(std::size_t index, const std::vector<std::string>& command, const Limits& limits);

  std::size_t index() const { return index_; }
  Clock::time_point deadline() const { return deadline_; }
  std::array<int, 3> descriptors() const { return {process_.get(), output_.get(), errors_.get()}; }

  // Reads what has come. A process that inherited the pipes may keep them open: the end of this one counts.
  void read();
  // Ends it if its time is over, or if it has written too much.
  void enforce(Clock::time_point now);
  bool has_ended();
  Ended take() && { return std::move(ended_); }

 private:
  void fail(const char* what);
  void stop(Stopped why);

  std::size_t index_;
  const Limits& limits_;
  Clock::time_point deadline_;
  pid_t pid_ = -1;
  UniqueFd process_, output_, errors_;
  int signals_ = 0;  // sent to end it
  Ended ended_;
};

Running::Running(std::size_t index, const std::vector<std::string>& command, const Limits& limits)
    : index_(index), limits_(limits), deadline_(Clock::now() + limits.longest) {
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  Pipe output, errors;
  if (!make_pipe(output) || !make_pipe(errors)) {
    fail("pipe");
    return;
  }
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ == 0) become(argv.data(), output.write.get(), errors.write.get(), parent);
  if (pid_ < 0) {
    fail("fork");
    return;
  }
  process_.reset(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
  output_ = std::move(output.read);
  errors_ = std::move(errors.read);
}

void Running::fail(const char* what) {
  ended_.errors = std::string(what) + ": " + std::strerror(errno) + "\n";
  ended_.status = kCannotStart;
}

void Running::read() {
  std::array<char, 65536> part;
  const auto all_of = [&part](const UniqueFd& fd, std::string& text, std::size_t enough) {
    while (fd && text.size() <= enough) {
      const ssize_t length = ::read(fd.get(), part.data(), part.size());
      if (length < 0 && errno == EINTR) continue;
      if (length < 0) return true;
      if (length == 0) return false;
      text.append(part.data(), static_cast<std::size_t>(length));
    }
    return true;
  };
  if (!all_of(output_, ended_.output, limits_.most_output)) output_.reset();
  if (!all_of(errors_, ended_.errors, limits_.most_errors)) errors_.reset();
  if (ended_.errors.size() > limits_.most_errors)
    ended_.errors.erase(0, ended_.errors.size() - limits_.most_errors);
}

void Running::enforce(Clock::time_point now) {
  if (pid_ < 0) return;
  if (ended_.output.size() > limits_.most_output && ended_.stopped == Stopped::kNo) stop(Stopped::kTooMuch);
  if (now >= deadline_) stop(ended_.stopped == Stopped::kNo ? Stopped::kTooLong : ended_.stopped);
}

void Running::stop(Stopped why) {
  ended_.stopped = why;
  if (why == Stopped::kTooMuch) output_.reset();
  ::kill(pid_, signals_++ == 0 ? SIGTERM : SIGKILL);
  deadline_ = Clock::now() + limits_.grace;
}

bool Running::has_ended() {
  if (pid_ < 0) return true;
  int status = 0;
  const pid_t reaped = waitpid(pid_, &status, WNOHANG);
  if (reaped == 0 || (reaped < 0 && errno == EINTR)) return false;
  pid_ = -1;
  read();  // what it wrote last
  if (ended_.output.size() > limits_.most_output) ended_.stopped = Stopped::kTooMuch;
  ended_.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return true;
}

// Until something has come, or the next one's time is over.
void wait(const std::list<Running>& all) {
  constexpr milliseconds kPoll{100};  // where the end of a process cannot be waited for
  std::vector<pollfd> inputs;
  auto first = Clock::time_point::max();
  for (const Running& running : all) {
    for (const int fd : running.descriptors()) {
      if (fd >= 0) inputs.push_back({fd, POLLIN, 0});
    }
    first = std::min(first, running.deadline());
    if (running.descriptors().front() < 0) first = std::min(first, Clock::now() + kPoll);
  }
  const auto left = std::chrono::ceil<milliseconds>(first - Clock::now());
  (void)::poll(inputs.data(), inputs.size(), static_cast<int>(std::max(left, milliseconds(0)).count()));
}

}  // namespace

void run_all(const std::vector<std::vector<std::string>>& commands, const Limits& limits,
             const std::function<void(std::size_t index, Ended ended)>& done) {
  std::list<Running> all;
  for (std::size_t next = 0; next < commands.size() || !all.empty();) {
    while (next < commands.size() && all.size() < limits.at_once) {
      all.emplace_back(next, commands[next], limits);
      ++next;
    }
    if (std::ranges::none_of(all, [](Running& running) { return running.has_ended(); })) wait(all);
    for (auto running = all.begin(); running != all.end();) {
      running->read();
      running->enforce(Clock::now());
      if (!running->has_ended()) {
        ++running;
        continue;
      }
      const std::size_t index = running->index();
      Ended ended = std::move(*running).take();
      running = all.erase(running);
      done(index, std::move(ended));
    }
  }
}

}  // namespace keplerd::cli::fleet
