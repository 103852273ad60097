#include "bridge/cli/commands.hpp"
#include "bridge/cli/event_line.hpp"
#include "bridge/cli/exit_codes.hpp"
#include "bridge/cli/interrupt.hpp"
#include "bridge/cli/line_reader.hpp"
#include "bridge/cli/output.hpp"
#include "bus/client/appender.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fcntl.h>
#include <fmt/core.h>
#include <memory>
#include <optional>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

namespace runwire::cli {
namespace {

struct AppendOptions {
  std::string subject{};
  std::string type{};
  std::string data{"{}"};
  std::string ndjson{};
  std::string id{};
  bool acknowledged = false;
  bool ephemeral = false;
  std::optional<std::uint64_t> expect{};
  std::uint64_t deadline_ms = 30'000;
};

void print_receipt(const client::Appended& appended, bool json) {
  const wire::AppendReply& reply = appended.reply;
  const std::string_view level =
      reply.level == wire::Level::committed ? "committed" : "acknowledged";
  for (std::size_t at = 0; at < reply.taken && at < reply.seqs.size(); ++at) {
    const bool again = std::ranges::find(reply.duplicates, at) != reply.duplicates.end();
    if (style_of(json) == Style::ndjson) {
      fmt::print(
          R"({{"subject":{},"seq":{},"position":{},"level":"{}","sync":"{}","duplicate":{}}})"
          "\n",
          json_string(reply.subject),
          reply.seqs[at].value,
          reply.positions[at].value,
          level,
          reply.sync,
          again);
    } else {
      fmt::print("{} #{} at position {}, {} (sync {}){}\n",
                 reply.subject,
                 reply.seqs[at].value,
                 reply.positions[at].value,
                 level,
                 reply.sync,
                 again ? ", had been appended before" : "");
    }
  }
  std::fflush(stdout);
}

int append_batch(client::Appender& appender,
                 const AppendOptions& options,
                 const std::string& subject,
                 std::vector<Draft> drafts,
                 bool json) {
  wire::Append request{.subject = subject, .events = std::move(drafts)};
  request.level = options.acknowledged ? wire::Level::acknowledged : wire::Level::committed;
  if (options.expect) request.expect = Sequence{*options.expect};
  auto appended = appender.append(std::move(request));
  if (!appended) return report(appended.error());
  print_receipt(*appended, json);
  return appended->error ? report(*appended->error) : exit_ok;
}

/// What stands in the pipe goes together; a pause, another subject or a full batch sends it.
class LineAppender {
 public:
  LineAppender(client::Appender& appender, const AppendOptions& options, bool json)
      : appender_(appender), options_(options), json_(json) {}

  int run(int file) {
    LineReader reader(file);
    while (!interrupted()) {
      auto line = reader.next();
      if (!line) return refuse(line.error());
      if (!*line) break;
      if ((*line)->empty()) continue;
      auto event = event_of_line(**line, options_.subject);
      if (!event) return refuse(std::move(event.error()).with("line", reader.number()));
      if (const int taken = take(std::move(*event)); taken != exit_ok) return taken;
      if (reader.ready()) continue;
      if (const int sent = send(); sent != exit_ok) return sent;
    }
    const int sent = send();
    return sent == exit_ok && interrupted() ? exit_interrupted : sent;
  }

 private:
  static constexpr std::size_t batch_events_max = 64;
  static constexpr std::size_t batch_bytes_max = limits::data_bytes_max;

  int take(EventLine event) {
    const std::size_t bytes = event.draft.data.size();
    const bool fits = drafts_.size() < batch_events_max && bytes_ + bytes <= batch_bytes_max;
    if (event.subject != subject_ || !fits) {
      if (const int sent = send(); sent != exit_ok) return sent;
    }
    subject_ = std::move(event.subject);
    bytes_ += bytes;
    drafts_.push_back(std::move(event.draft));
    return exit_ok;
  }

  int send() {
    bytes_ = 0;
    if (drafts_.empty()) return exit_ok;
    return append_batch(appender_, options_, subject_, std::exchange(drafts_, {}), json_);
  }

  /// What came before the bad line was well formed, and is appended.
  int refuse(const Error& error) {
    if (const int sent = send(); sent != exit_ok) return sent;
    return report(error);
  }

  client::Appender& appender_;
  const AppendOptions& options_;
  bool json_;
  std::string subject_{};
  std::vector<Draft> drafts_{};
  std::size_t bytes_ = 0;
};

int append_file(client::Appender& appender, const AppendOptions& options, bool json) {
  LineAppender lines(appender, options, json);
  if (options.ndjson == "-") return lines.run(STDIN_FILENO);
  const int file = ::open(options.ndjson.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return report(
        Error{ErrorCode::not_found, "cannot read the events", {}}.with("path", options.ndjson));
  }
  const int code = lines.run(file);
  ::close(file);
  return code;
}

int append(const AppendOptions& options, const Common& common) {
  auto appender = client::Appender::open(
      {.connect = common.connect(), .deadline = std::chrono::milliseconds(options.deadline_ms)});
  if (!appender) return report(appender.error());
  if (!options.ndjson.empty()) return append_file(**appender, options, common.json);
  Draft draft{.type = options.type, .durable = !options.ephemeral, .data = options.data};
  if (!options.id.empty()) {
    auto id = uuid_from_text(options.id);
    if (!id) return report(id.error());
    draft.id.bytes = *id;
  }
  std::vector<Draft> drafts;
  drafts.push_back(std::move(draft));
  return append_batch(**appender, options, options.subject, std::move(drafts), common.json);
}

/// `SUBJECT -` is the same as `--ndjson - SUBJECT`.
void judge(AppendOptions& options) {
  if (options.type == "-") options.ndjson = std::exchange(options.type, {});
  const bool lines = !options.ndjson.empty();
  if (!lines && (options.subject.empty() || options.type.empty()))
    throw CLI::ValidationError("append", "give SUBJECT and TYPE, or --ndjson FILE");
  const bool one_event =
      !options.type.empty() || !options.id.empty() || options.expect || options.ephemeral;
  if (lines && one_event) {
    throw CLI::ValidationError(
        "append", "TYPE, --id, --expect and --ephemeral go with one event, not with lines");
  }
}

}  // namespace

void add_append(CLI::App& app, Common& common) {
  auto options = std::make_shared<AppendOptions>();
  CLI::App* command =
      app.add_subcommand("append", "Append one event, or NDJSON from standard input");
  add_client_options(*command, common);
  command->add_option("SUBJECT", options->subject, "The run, or any other subject");
  command->add_option("TYPE", options->type, "The event's type; - reads lines, as --ndjson -");
  command->add_option("DATA", options->data, "Any JSON")->capture_default_str();
  command->add_option("--id", options->id, "UUID; a repeat with the same id is one event")
      ->type_name("UUID");
  command->add_option("--expect", options->expect, "Only if this is the subject's last sequence");
  command->add_flag(
      "--acknowledged", options->acknowledged, "Wait until the required observers have acked");
  command
      ->add_option("--ndjson",
                   options->ndjson,
                   "Lines of {subject?, type, data?, id?, location?, version?, ephemeral?}; "
                   "- is the standard input")
      ->type_name("FILE");
  command->add_flag("--ephemeral", options->ephemeral, "Live only: never stored");
  command
      ->add_option(
          "--deadline-ms", options->deadline_ms, "Give up after this, over server restarts")
      ->check(CLI::Range(1, 600'000))
      ->capture_default_str();
  command->footer(
      "Examples:\n  runwire append hello notes.idea '{\"text\":\"types outside the roots are "
      "yours\"}'\n  my-agent | runwire append --ndjson -");
  command->callback([options, &common] {
    judge(*options);
    common.chosen = [options, &common] { return append(*options, common); };
  });
}

}  // namespace runwire::cli
