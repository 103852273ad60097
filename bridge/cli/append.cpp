#include "bridge/cli/commands.hpp"
#include "bridge/cli/exit_codes.hpp"
#include "bridge/cli/output.hpp"
#include "bus/client/appender.hpp"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <iostream>
#include <memory>
#include <string>
#include <vector>

namespace runwire::cli {
namespace {

struct AppendOptions {
  std::string subject{};
  std::string type{};
  std::string data{"{}"};
  std::string id{};
  bool acknowledged = false;
  bool ephemeral = false;
  std::optional<std::uint64_t> expect{};
  std::uint64_t deadline_ms = 30'000;
};

/// One line of standard input: `{"type":..., "data":..., "id":..., "ephemeral":...}`.
Result<Draft> draft_of_line(const std::string& line, std::size_t number) {
  const auto bad = [number](std::string_view what) {
    return fail(Error{ErrorCode::invalid, std::string(what), {}}.with("line", number));
  };
  const auto value = nlohmann::json::parse(line, nullptr, false);
  if (!value.is_object()) return bad("a line is one JSON object: {\"type\": ..., \"data\": ...}");
  Draft draft{.data = "{}"};
  if (!value.contains("type") || !value["type"].is_string()) return bad("type: missing, or not a string");
  draft.type = value["type"];
  if (value.contains("data")) draft.data = value["data"].dump();
  draft.durable = !value.value("ephemeral", false);
  if (value.contains("id")) {
    auto id = value["id"].is_string() ? uuid_from_text(value["id"].get<std::string>())
                                      : fail(ErrorCode::invalid, "id: not a string");
    if (!id) return fail(std::move(id.error()).with("line", number));
    draft.id.bytes = *id;
  }
  return draft;
}

void print_receipt(const client::Appended& appended, bool json) {
  const wire::AppendReply& reply = appended.reply;
  const std::string_view level = reply.level == wire::Level::committed ? "committed" : "acknowledged";
  for (std::size_t at = 0; at < reply.taken && at < reply.seqs.size(); ++at) {
    const bool again = std::ranges::find(reply.duplicates, at) != reply.duplicates.end();
    if (style_of(json) == Style::ndjson) {
      fmt::print(R"({{"subject":{},"seq":{},"position":{},"level":"{}","sync":"{}","duplicate":{}}})"
                 "\n",
                 json_string(reply.subject), reply.seqs[at].value, reply.positions[at].value, level, reply.sync, again);
    } else {
      fmt::print("{} #{} at position {}, {} (sync {}){}\n", reply.subject, reply.seqs[at].value,
                 reply.positions[at].value, level, reply.sync, again ? ", had been appended before" : "");
    }
  }
  std::fflush(stdout);
}

int append_batch(client::Appender& appender, const AppendOptions& options, std::vector<Draft> drafts, bool json) {
  wire::Append request{.subject = options.subject, .events = std::move(drafts)};
  request.level = options.acknowledged ? wire::Level::acknowledged : wire::Level::committed;
  if (options.expect) request.expect = Sequence{*options.expect};
  auto appended = appender.append(std::move(request));
  if (!appended) return report(appended.error());
  print_receipt(*appended, json);
  return appended->error ? report(*appended->error) : exit_ok;
}

int append_lines(client::Appender& appender, const AppendOptions& options, bool json) {
  std::vector<Draft> drafts;
  std::size_t number = 0;
  const auto send = [&]() -> int {
    if (drafts.empty()) return exit_ok;
    return append_batch(appender, options, std::exchange(drafts, {}), json);
  };
  for (std::string line; std::getline(std::cin, line);) {
    ++number;
    if (line.empty()) continue;
    auto draft = draft_of_line(line, number);
    if (!draft) {
      if (const int sent = send(); sent != exit_ok) return sent;
      return report(draft.error());
    }
    drafts.push_back(std::move(*draft));
    // What has arrived goes on its way: one append when the pipe pauses, and never too large a one.
    constexpr std::size_t lines_max = 64;
    if (drafts.size() >= lines_max || std::cin.rdbuf()->in_avail() <= 0) {
      if (const int sent = send(); sent != exit_ok) return sent;
    }
  }
  return send();
}

int append(const AppendOptions& options, const Common& common) {
  auto appender = client::Appender::open(
      {.connect = common.connect(), .deadline = std::chrono::milliseconds(options.deadline_ms)});
  if (!appender) return report(appender.error());
  if (options.type == "-") return append_lines(**appender, options, common.json);
  Draft draft{.type = options.type, .durable = !options.ephemeral, .data = options.data};
  if (!options.id.empty()) {
    auto id = uuid_from_text(options.id);
    if (!id) return report(id.error());
    draft.id.bytes = *id;
  }
  std::vector<Draft> drafts;
  drafts.push_back(std::move(draft));
  return append_batch(**appender, options, std::move(drafts), common.json);
}

}  // namespace

void add_append(CLI::App& app, Common& common) {
  auto options = std::make_shared<AppendOptions>();
  CLI::App* command = app.add_subcommand("append", "Append one event, or NDJSON from standard input");
  add_client_options(*command, common);
  command->add_option("SUBJECT", options->subject, "The run, or any other subject")->required();
  command->add_option("TYPE", options->type, "The event's type; - reads {type, data, id?, ephemeral?} lines")
      ->required();
  command->add_option("DATA", options->data, "Any JSON")->capture_default_str();
  command->add_option("--id", options->id, "UUID; a repeat with the same id is one event")->type_name("UUID");
  command->add_option("--expect", options->expect, "Only if this is the subject's last sequence");
  command->add_flag("--acknowledged", options->acknowledged, "Wait until the required observers have acked");
  command->add_flag("--ephemeral", options->ephemeral, "Live only: never stored");
  command->add_option("--deadline-ms", options->deadline_ms)->check(CLI::Range(1, 600'000))->capture_default_str();
  command->footer("Example:\n  runwire append hello notes.idea '{\"text\":\"types outside the roots are yours\"}'");
  command->callback(
      [options, &common] { common.chosen = [options, &common] { return append(*options, common); }; });
}

}  // namespace runwire::cli
