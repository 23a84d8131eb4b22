// SPDX-License-Identifier: Apache-2.0
#include "cli/run/child.h"

#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"

namespace keplerd::cli::run {
namespace {

bool sigpipe_was_ignored = false;

constexpr int kPassedOn[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};

struct Pipe {
  UniqueFd read, write;
};

Result<Pipe> make_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return system_error("a pipe cannot be made", errno);
  return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

// False at the end of the file, and after an error.
template <class Value>
bool read_value(int fd, Value& value) {
  ssize_t length = -1;
  do {
    length = ::read(fd, &value, sizeof value);
  } while (length < 0 && errno == EINTR);
  return length == sizeof value;
}

template <class Value>
bool write_value(int fd, const Value& value) {
  return ::write(fd, &value, sizeof value) == sizeof value;
}

// `argv` was made before the fork, `gate` and `failure` are of this process alone.
[[noreturn]] void become(char* const* argv, int gate, int failure) {
  char go = 0;
  if (!read_value(gate, go)) _exit(126);  // keplerctl is gone
  execvp(argv[0], argv);
  (void)write_value(failure, errno);
  _exit(126);
}

// Signals are for the command: a holder that a terminal's Ctrl-C ends would take the scope with it.
[[noreturn]] void hold(int gate) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  // A reader of keplerctl's output waits for the command, not for the last sample.
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) dup2(null, fd);
  char never = 0;
  (void)read_value(gate, never);
  _exit(0);
}

}  // namespace

void keep_ignoring_sigpipe() { sigpipe_was_ignored = true; }

Signals::Signals() {
  sigset_t mine;
  sigemptyset(&mine);
  sigaddset(&mine, SIGCHLD);
  for (const int number : kPassedOn) sigaddset(&mine, number);
  sigprocmask(SIG_BLOCK, &mine, &mask_);
  // Where it is ignored, children cannot be waited for.
  struct sigaction usual {};
  usual.sa_handler = SIG_DFL;
  sigaction(SIGCHLD, &usual, &child_action_);
  fd_.reset(signalfd(-1, &mine, SFD_CLOEXEC | SFD_NONBLOCK));
}

Signals::~Signals() {
  (void)take(0);  // what has come is not to end keplerctl now
  sigaction(SIGCHLD, &child_action_, nullptr);
  sigprocmask(SIG_SETMASK, &mask_, nullptr);
}

bool Signals::wait_for(int fd, std::chrono::milliseconds longest) {
  pollfd inputs[] = {{fd_.get(), POLLIN, 0}, {fd, POLLIN, 0}};
  (void)::poll(inputs, 2, static_cast<int>(longest.count()));
  return take(0);
}

bool Signals::take(pid_t command) {
  bool wants_end = false;
  signalfd_siginfo info{};
  while (::read(fd_.get(), &info, sizeof info) == sizeof info) {
    const int number = static_cast<int>(info.ssi_signo);
    if (number == SIGCHLD) continue;
    wants_end = wants_end || (number != SIGUSR1 && number != SIGUSR2);
    const bool from_terminal = info.ssi_code == SI_KERNEL;  // the whole group has got it
    if (command > 0 && !from_terminal) ::kill(command, number);
  }
  return wants_end;
}

void Signals::restore() const {
  sigaction(SIGCHLD, &child_action_, nullptr);
  struct sigaction pipe_action {};
  pipe_action.sa_handler = sigpipe_was_ignored ? SIG_IGN : SIG_DFL;
  sigaction(SIGPIPE, &pipe_action, nullptr);
  sigprocmask(SIG_SETMASK, &mask_, nullptr);
}

Result<Child> Child::make(const std::vector<std::string>& command, const Signals& signals) {
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  auto gate = make_pipe();
  if (!gate) return gate.error();
  auto failure = make_pipe();
  if (!failure) return failure.error();
  const pid_t pid = fork();
  if (pid < 0) return system_error("the command cannot be started", errno);
  if (pid == 0) {
    gate->write.reset();
    signals.restore();
    become(argv.data(), gate->read.get(), failure->write.get());
  }
  return Child(pid, command.front(), std::move(gate->write), std::move(failure->read));
}

Result<Done> Child::start() {
  const char go = 1;
  // It may have been killed while it waited: poll_end() reports it.
  if (!write_value(gate_.get(), go)) return Done{};
  int code = 0;
  // The command does not inherit its end: nothing comes once it runs.
  if (!read_value(failure_.get(), code)) return Done{};
  waitpid(pid_, nullptr, 0);
  return system_error(escape_name(command_), code);
}

std::optional<Ended> Child::poll_end() {
  int status = 0;
  rusage usage{};
  if (wait4(pid_, &status, WNOHANG, &usage) != pid_) return std::nullopt;
  const auto time = [](const timeval& part) {
    return std::chrono::seconds(part.tv_sec) + std::chrono::microseconds(part.tv_usec);
  };
  Ended ended;
  ended.by_signal = WIFSIGNALED(status);
  ended.status = ended.by_signal ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  ended.cpu = time(usage.ru_utime) + time(usage.ru_stime);
  return ended;
}

int status_of_failed_start(int code) { return code == ENOENT ? 127 : 126; }

Result<Holder> Holder::make() {
  auto gate = make_pipe();
  if (!gate) return gate.error();
  const pid_t pid = fork();
  if (pid < 0) return system_error("a process cannot be made", errno);
  if (pid == 0) {
    gate->write.reset();
    hold(gate->read.get());
  }
  return Holder(pid, std::move(gate->write));
}

Holder::Holder(Holder&& other) noexcept : pid_(std::exchange(other.pid_, 0)), gate_(std::move(other.gate_)) {}

Holder::~Holder() {
  gate_.reset();
  if (pid_ > 0) waitpid(pid_, nullptr, 0);
}

}  // namespace keplerd::cli::run
