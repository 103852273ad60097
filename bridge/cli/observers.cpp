#include "bridge/cli/ask.hpp"
#include "bridge/cli/commands.hpp"
#include "bridge/cli/exit_codes.hpp"
#include "bridge/cli/interrupt.hpp"
#include "bridge/cli/output.hpp"

#include <chrono>
#include <cstdio>
#include <fmt/core.h>
#include <memory>
#include <string>
#include <utility>

/// `runwire observers`: what each required observer is owed, and suspending one that is gone.
namespace runwire::cli {
namespace {

constexpr std::chrono::seconds watch_interval{1};

struct ObserversOptions {
  bool watch = false;
  std::string name{};
};

void print_row(const wire::ObserverRow& row, Style style) {
  if (style == Style::human) {
    fmt::print(
        "{:<20} {:<9} acked {} owed {} ({} KiB, oldest {:.1f} s) in flight {} epoch {} sent again "
        "{} refused {} skipped {}\n",
        row.observer,
        row.state,
        row.acked.value,
        row.owed,
        row.owed_bytes / 1024,
        static_cast<double>(row.oldest_ms) / 1000.0,
        row.in_flight,
        row.epoch.value,
        row.redeliveries,
        row.refusals,
        row.skipped);
    return;
  }
  fmt::print(
      R"({{"observer":{},"state":"{}","epoch":{},"acked":{},"owed":{},"owed_bytes":{},"oldest_ms":{},"in_flight":{},"redeliveries":{},"refusals":{},"skipped":{}}})"
      "\n",
      json_string(row.observer),
      row.state,
      row.epoch.value,
      row.acked.value,
      row.owed,
      row.owed_bytes,
      row.oldest_ms,
      row.in_flight,
      row.redeliveries,
      row.refusals,
      row.skipped);
}

Result<bool> print_rows(client::Connection& connection, Style style) {
  auto reply = ask<wire::ObserversReply>(connection, wire::Observers{});
  if (!reply) return fail(std::move(reply.error()));
  if (reply->observers.empty() && style == Style::human) {
    fmt::print("no required observers; name them with: runwire serve --require NAME\n");
  }
  for (const wire::ObserverRow& row : reply->observers)
    print_row(row, style);
  return std::fflush(stdout) == 0;
}

int observers(const ObserversOptions& options, const Common& common) {
  auto connection = client::Connection::open(common.connect());
  if (!connection) return report(connection.error());
  const Style style = style_of(common.json);
  for (;;) {
    const auto printed = print_rows(**connection, style);
    if (!printed) return report(printed.error());
    if (!*printed) return exit_refused;
    if (!options.watch) return exit_ok;
    if (wait_interrupted(watch_interval)) return exit_interrupted;
  }
}

int set_suspended(const std::string& name, bool suspended, const Common& common) {
  auto connection = client::Connection::open(common.connect());
  if (!connection) return report(connection.error());
  wire::Operation operation = wire::Resume{name};
  if (suspended) operation = wire::Suspend{name};
  auto reply = ask<wire::SuspendReply>(**connection, std::move(operation));
  if (!reply) return report(reply.error());
  if (style_of(common.json) == Style::human) {
    fmt::print("{} {} at position {}{}\n",
               name,
               suspended ? "is suspended" : "goes on",
               reply->acked.value,
               suspended ? "; nobody waits for it until: runwire observers resume " + name : "");
  } else {
    fmt::print(R"({{"observer":{},"suspended":{},"acked":{}}})"
               "\n",
               json_string(name),
               suspended,
               reply->acked.value);
  }
  return std::fflush(stdout) == 0 ? exit_ok : exit_refused;
}

void add_suspension(CLI::App& command, Common& common, bool suspended) {
  auto options = std::make_shared<ObserversOptions>();
  CLI::App* sub = suspended
                      ? command.add_subcommand(
                            "suspend", "Offer it nothing and wait for it no longer; recorded")
                      : command.add_subcommand("resume", "Take that back: it goes on from its ack");
  add_client_options(*sub, common);
  sub->add_option("NAME", options->name, "As in: runwire serve --require NAME")->required();
  sub->callback([options, &common, suspended] {
    common.chosen = [options, &common, suspended] {
      return set_suspended(options->name, suspended, common);
    };
  });
}

}  // namespace

void add_observers(CLI::App& app, Common& common) {
  auto options = std::make_shared<ObserversOptions>();
  CLI::App* command =
      app.add_subcommand("observers", "The required observers: who is attached, what is owed");
  add_client_options(*command, common);
  command->add_flag("--watch", options->watch, "Again every second, until interrupted");
  command->require_subcommand(0, 1);
  command->footer(
      "Examples:\n  runwire observers --watch\n  runwire observers suspend audit\n"
      "  runwire observers resume audit");
  command->callback([options, command, &common] {
    if (!command->get_subcommands().empty()) return;
    common.chosen = [options, &common] { return observers(*options, common); };
  });
  add_suspension(*command, common, true);
  add_suspension(*command, common, false);
}

}  // namespace runwire::cli
