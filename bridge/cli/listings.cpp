#include "bridge/cli/ask.hpp"
#include "bridge/cli/commands.hpp"
#include "bridge/cli/exit_codes.hpp"
#include "bridge/cli/output.hpp"
#include "bridge/cli/paint.hpp"

#include <cstdio>
#include <fmt/core.h>
#include <memory>
#include <string>
#include <utility>
#include <variant>

/// The commands that ask one question and print the answer: runs, status.
namespace runwire::cli {
namespace {

struct RunsOptions {
  std::string prefix{};
  bool active = false;
};

void print_run(const wire::SubjectRow& row, Style style) {
  if (style == Style::human) {
    fmt::print("{:<40} {} {:>8} events  last {}{}\n",
               row.subject,
               painted(paint_of(row.state), fmt::format("{:<10}", row.state)),
               row.last.value - row.first.value + 1,
               clock_of(row.time),
               row.claimed ? fmt::format("  claimed, epoch {}", row.epoch.value) : "");
    return;
  }
  fmt::print(
      R"({{"subject":{},"state":"{}","first":{},"last":{},"first_position":{},"last_position":{},"time":{},"claimed":{},"epoch":{}}})"
      "\n",
      json_string(row.subject),
      row.state,
      row.first.value,
      row.last.value,
      row.first_position.value,
      row.last_position.value,
      row.time,
      row.claimed,
      row.epoch.value);
}

int runs(const RunsOptions& options, const Common& common) {
  auto connection = client::Connection::open(common.connect());
  if (!connection) return report(connection.error());
  const Style style = style_of(common.json);
  std::string after;
  std::size_t count = 0;
  for (bool end = false; !end;) {
    auto page = ask<wire::SubjectsReply>(
        **connection,
        wire::Subjects{.prefix = options.prefix, .after = after, .open = options.active});
    if (!page) return report(page.error());
    for (const wire::SubjectRow& row : page->subjects)
      print_run(row, style);
    count += page->subjects.size();
    end = page->end || page->subjects.empty();
    if (!end) after = page->subjects.back().subject;
  }
  if (count == 0 && style == Style::human) fmt::print("no runs\n");
  return std::fflush(stdout) == 0 ? exit_ok : exit_refused;
}

std::string text_of(const FactValue& value) {
  if (const auto* number = std::get_if<std::uint64_t>(&value)) return std::to_string(*number);
  return json_string(std::get<std::string>(value));
}

int status(const Common& common) {
  auto connection = client::Connection::open(common.connect());
  if (!connection) return report(connection.error());
  auto reply = ask<wire::StatusReply>(**connection, wire::GetStatus{});
  if (!reply) return report(reply.error());
  if (style_of(common.json) == Style::human) {
    for (const Fact& fact : reply->status)
      fmt::print("{:<32} {}\n", fact.name, text_of(fact.value));
  } else {
    std::string line;
    for (const Fact& fact : reply->status) {
      line += fmt::format(
          "{}{}:{}", line.empty() ? "" : ",", json_string(fact.name), text_of(fact.value));
    }
    fmt::print("{{{}}}\n", line);
  }
  return std::fflush(stdout) == 0 ? exit_ok : exit_refused;
}

}  // namespace

void add_runs(CLI::App& app, Common& common) {
  auto options = std::make_shared<RunsOptions>();
  CLI::App* command = app.add_subcommand("runs", "What ran, and how it ended");
  add_client_options(*command, common);
  command->add_option("PREFIX,--prefix", options->prefix, "Only subjects that begin so");
  command->add_flag("--active", options->active, "Only runs that have not ended");
  command->footer("Examples:\n  runwire runs --active\n  runwire runs nightly- | jq .state");
  command->callback([options, &common] {
    common.chosen = [options, &common] { return runs(*options, common); };
  });
}

void add_status(CLI::App& app, Common& common) {
  CLI::App* command = app.add_subcommand("status", "The cursors, the settings and every counter");
  add_client_options(*command, common);
  command->footer("Example:\n  runwire status | jq '.\"log.committed\"'");
  command->callback([&common] { common.chosen = [&common] { return status(common); }; });
}

}  // namespace runwire::cli
