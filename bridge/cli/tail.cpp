#include "bridge/cli/commands.hpp"
#include "bridge/cli/exit_codes.hpp"
#include "bridge/cli/interrupt.hpp"
#include "bridge/cli/output.hpp"
#include "bus/client/events.hpp"

#include <fmt/core.h>
#include <memory>
#include <optional>
#include <string>
#include <variant>

namespace runwire::cli {
namespace {

struct TailOptions {
  std::string subject{};
  std::string from{};
  std::optional<std::uint64_t> after{};
  std::string log{};
  std::optional<std::uint64_t> count{};
  bool until_caught_up = false;
  bool ephemeral = true;
  bool committed = false;
};

class Tail {
 public:
  Tail(const TailOptions& options, const Common& common)
      : options_(options), common_(common), printer_(style_of(common.json)) {}

  int run() {
    client::EventsOptions wanted{.connect = common_.connect(), .after = options_.after.value_or(0)};
    if (!options_.subject.empty()) wanted.subject = options_.subject;
    // A whole fleet is watched from now on, one run from its beginning, unless something was said.
    wanted.from_end =
        options_.from == "end" || (options_.from.empty() && !options_.after && !wanted.subject);
    wanted.level = options_.committed ? wire::Level::committed : wire::Level::acknowledged;
    wanted.ephemeral = options_.ephemeral;
    wanted.follow = !options_.until_caught_up;
    if (!options_.log.empty()) {
      auto log = uuid_from_text(options_.log);
      if (!log) return report(log.error());
      wanted.log = LogId{.bytes = *log};
    }
    auto events = client::Events::open(wanted);
    if (!events) return report(events.error());
    return follow(**events);
  }

 private:
  int follow(client::Events& events) {
    while (!interrupted() && left()) {
      auto item = events.next(look_every);
      if (!item) {
        printer_.break_line();
        const int code = report(item.error());
        say_how_to_go_on(events);
        return code;
      }
      if (!*item) continue;
      if (std::holds_alternative<client::Ended>(**item)) return finish();
      if (!show(**item)) return exit_ok;  // nobody reads on: like any filter in a pipe
    }
    if (!interrupted()) return finish();
    printer_.break_line();
    printer_.flush();
    say_how_to_go_on(events);
    return exit_interrupted;
  }

  int finish() {
    printer_.break_line();
    return printer_.flush() ? exit_ok : exit_refused;
  }

  [[nodiscard]] bool left() const { return !options_.count || shown_ < *options_.count; }

  bool show(const client::Item& item) {
    if (const auto* heard = std::get_if<client::Heard>(&item)) {
      ++shown_;
      if (!printer_.print(heard->event, heard->position)) return false;
    } else if (const auto* resumed = std::get_if<client::Resumed>(&item)) {
      printer_.break_line();
      fmt::print(stderr, "runwire: {}; reading on after {}\n", resumed->reason, resumed->cursor);
    }
    return printer_.flush();
  }

  void say_how_to_go_on(const client::Events& events) const {
    fmt::print(stderr,
               "go on with: runwire tail{}{} --after {} --log {}{}{}{}\n",
               options_.subject.empty() ? "" : " ",
               options_.subject,
               events.cursor(),
               to_string(events.log()),
               options_.ephemeral ? "" : " --no-ephemeral",
               options_.committed ? " --committed" : "",
               common_.url.empty() ? "" : " --connect " + common_.url);
  }

  const TailOptions& options_;
  const Common& common_;
  EventPrinter printer_;
  std::uint64_t shown_ = 0;
};

}  // namespace

void add_tail(CLI::App& app, Common& common) {
  auto options = std::make_shared<TailOptions>();
  CLI::App* command = app.add_subcommand("tail", "Follow one run, or the whole log");
  add_client_options(*command, common);
  command->add_option("SUBJECT", options->subject, "Default: the whole log, live from now on");
  auto* from = command->add_option("--from", options->from, "start or end")
                   ->check(CLI::IsMember({"start", "end"}));
  command->add_option("--after", options->after, "Cursor: a sequence with SUBJECT, else a position")
      ->excludes(from);
  command->add_option("--log", options->log, "The log that the cursor belongs to")
      ->type_name("UUID");
  command->add_option("--count", options->count, "Stop after so many events")
      ->check(CLI::PositiveNumber);
  command->add_flag(
      "--until-caught-up", options->until_caught_up, "Stop at the end of what there is");
  command->add_flag("--ephemeral,!--no-ephemeral",
                    options->ephemeral,
                    "With or without what is live only (text as it streams in); default: with");
  command->add_flag("--committed", options->committed, "Do not wait for the required observers");
  command->footer(
      "Examples:\n  runwire tail\n  runwire tail my-run --after 41\n"
      "  runwire tail --from start --until-caught-up | jq .type");
  command->callback([options, &common] {
    common.chosen = [options, &common] { return Tail(*options, common).run(); };
  });
}

}  // namespace runwire::cli
