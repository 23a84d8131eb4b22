// SPDX-License-Identifier: Apache-2.0
// Records a trace, until there is enough or a signal ends it. What is written are always complete lines.
#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>

#include <fmt/format.h>
#include <poll.h>
#include <sys/signalfd.h>

#include "cli/fields.h"
#include "cli/record/trace_file.h"
#include "cli/verb.h"
#include "cli/verbs/ask.h"

namespace keplerd::cli {
namespace {

using namespace record;
using Clock = std::chrono::steady_clock;

// Signals that end the recording in an orderly way, as a descriptor.
class EndSignals {
 public:
  EndSignals() {
    sigset_t signals;
    sigemptyset(&signals);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, signal);
    sigprocmask(SIG_BLOCK, &signals, &before_);
    descriptor_ = UniqueFd(signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  }
  ~EndSignals() {
    signalfd_siginfo taken;
    while (read(descriptor_.get(), &taken, sizeof taken) > 0) {
    }
    sigprocmask(SIG_SETMASK, &before_, nullptr);
  }
  EndSignals(const EndSignals&) = delete;
  EndSignals& operator=(const EndSignals&) = delete;

  int descriptor() const { return descriptor_.get(); }

 private:
  sigset_t before_{};
  UniqueFd descriptor_;
};

class Recorder {
 public:
  Recorder(const Context& context, TraceFile file)
      : options_(context.options.record), context_(context), file_(std::move(file)) {}

  int run() {
    auto client = varlink::Client::connect(context_.options.address);
    if (!client) return fail_to_connect(context_, client.error());
    varlink::Json parameters = {{"anonymize", options_.anonymize}};
    if (context_.options.interval) parameters["intervalUsec"] = to_usec(*context_.options.interval);
    const auto sent = client->send("org.keplerd.Energy.Record", std::move(parameters), true);
    if (!sent) return context_.fail(sent.error().message);
    const auto recorded = follow(*client);
    const auto finished = file_.finish();
    if (!context_.options.quiet && samples_ > 0)
      context_.err << fmt::format("{}: {} samples recorded, {} bytes in total\n", printable(options_.file),
                                  samples_, file_.size());
    if (!recorded) return context_.fail(printable(recorded.error().message));
    if (!finished) return context_.fail(printable(finished.error().message));
    return kFine;
  }

 private:
  // Until there is enough.
  Result<Done> follow(varlink::Client& client) {
    const EndSignals signals;
    const auto limit = std::min<Nanoseconds>(options_.duration, std::chrono::hours(24 * 365 * 10));
    const Clock::time_point end = Clock::now() + std::chrono::duration_cast<Clock::duration>(limit);
    while (!is_full_) {
      if (!client.has_reply()) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
        if (left <= 0) break;
        std::array<pollfd, 2> polls{{{client.fd(), POLLIN, 0}, {signals.descriptor(), POLLIN, 0}}};
        const int count =
            poll(polls.data(), polls.size(), static_cast<int>(std::min<std::int64_t>(left, 60'000)));
        if (count < 0 && errno != EINTR) return system_error("poll", errno);
        if (polls[1].revents != 0) break;
        if (count <= 0) continue;
      }
      const auto reply = client.receive(std::chrono::milliseconds(0));
      if (!reply && reply.error().code == ETIMEDOUT) continue;
      if (!reply) return Error{reply.error().message + "; the same command goes on with the recording"};
      if (!reply->error.empty()) return Error{client::describe_error(*reply)};
      if (const auto taken = take(string_field(reply->parameters, "text").value_or("")); !taken) return taken;
    }
    return Done{};
  }

  Result<Done> take(const std::string& text) {
    constexpr std::size_t kLongestLine = 256 << 20;
    if (text_.size() > kLongestLine) return Error{"keplerd sends a line that does not end"};
    text_ += text;
    if (text.find('\n') == text.npos) return Done{};
    std::string_view rest = text_;
    std::string_view lines;  // the complete ones for which there is room
    std::uint64_t samples = 0;
    for (auto end = rest.find('\n'); end != rest.npos && !is_full_; end = rest.find('\n', lines.size())) {
      const std::string_view line = rest.substr(lines.size(), end - lines.size());
      if (const auto header = parse_header(line)) {
        const std::string problem = is_begun_ ? "" : mismatch(file_.header(), *header);
        if (!problem.empty()) return Error{options_.file + ": " + problem};
      } else {
        ++samples;
      }
      is_begun_ = true;
      is_full_ = file_.size() + end + 1 > options_.max_size;
      if (!is_full_) lines = rest.substr(0, end + 1);
    }
    if (is_full_ && samples > 0) --samples;
    if (const auto written = file_.append(lines); !written) return written;
    samples_ += samples;
    text_.erase(0, lines.size());
    return Done{};
  }

  const RecordOptions& options_;
  const Context& context_;
  TraceFile file_;
  std::string text_;  // not written yet
  bool is_begun_ = false, is_full_ = false;
  std::uint64_t samples_ = 0;
};

}  // namespace

int run_record(const Context& context) {
  const RecordOptions& options = context.options.record;
  auto file = TraceFile::open(options.file);
  if (!file) return context.fail(printable(file.error().message));
  if (options.anonymize && !file->header().is_null())
    return context.fail(printable(options.file) + ": exists already: anonymized traces are not continued");
  if (file->size() >= options.max_size)
    return context.fail(printable(options.file) + ": has reached --max-size already");
  return Recorder(context, *std::move(file)).run();
}

}  // namespace keplerd::cli
