#include "bridge/cli/child.hpp"
#include "bridge/cli/commands.hpp"
#include "bridge/cli/exit_codes.hpp"
#include "bridge/cli/interrupt.hpp"
#include "bridge/cli/journal_file.hpp"
#include "bridge/cli/output.hpp"
#include "bus/client/observer.hpp"
#include "codec/wire/event_codec.hpp"

#include <cstdio>
#include <fmt/core.h>
#include <memory>
#include <optional>
#include <string>

namespace runwire::cli {
namespace {

struct ObserveOptions {
  std::string name{};
  std::string out{};
  std::string command{};
  std::optional<std::uint64_t> count{};
};

/// Takes what is owed, makes its effect safe, and acks: never the other way round.
class Consumer {
 public:
  Consumer(const ObserveOptions& options, const Common& common)
      : options_(options), common_(common) {}

  int run() {
    client::ObserverOptions wanted{.connect = common_.connect(), .name = options_.name};
    if (!options_.out.empty()) {
      auto journal = JournalFile::open(options_.out);
      if (!journal) return report(journal.error());
      journal_.emplace(std::move(*journal));
      if (journal_->position() > Position{}) {
        wanted.log = journal_->log();
        wanted.position = journal_->position();
      }
    }
    auto observer = client::Observer::open(wanted);
    if (!observer) return report(observer.error());
    return follow(**observer);
  }

 private:
  int follow(client::Observer& observer) {
    while (!interrupted() && left()) {
      auto owed = observer.next(look_every);
      if (!owed) return report(owed.error());
      if (!*owed) continue;
      const auto taken =
          options_.command.empty() ? take_all(observer, **owed) : take_each(observer, **owed);
      if (!taken) return report(taken.error());
    }
    return interrupted() ? exit_interrupted : exit_ok;
  }

  [[nodiscard]] bool left() const { return !options_.count || taken_ < *options_.count; }

  Result<std::string> line_of(const client::Observer& observer,
                              const EventView& view,
                              Position position) {
    auto event = wire::to_event(view);
    if (!event) return fail(std::move(event.error()));
    return json_of(*event, position, observer.log()) + "\n";
  }

  /// The whole batch with one sync and one ack.
  Status take_all(client::Observer& observer, const client::Owed& owed) {
    std::string lines;
    Position last{};
    for (std::size_t at = 0; at < owed.events.size() && left(); ++at, ++taken_) {
      auto line = line_of(observer, owed.events[at], owed.positions[at]);
      if (!line) return fail(std::move(line.error()));
      lines += *line;
      last = owed.positions[at];
    }
    if (auto kept = keep(lines); !kept) return kept;
    return observer.ack(last);
  }

  Status keep(const std::string& lines) {
    if (journal_) return journal_->append(lines);
    fmt::print("{}", lines);
    if (std::fflush(stdout) == 0) return {};
    return fail(ErrorCode::closed,
                "nobody reads the output any more; what was not acked stays owed");
  }

  /// A command for each event: its exit status 0 is the effect.
  Status take_each(client::Observer& observer, const client::Owed& owed) {
    for (std::size_t at = 0; at < owed.events.size() && left() && !interrupted(); ++at) {
      const Position position = owed.positions[at];
      auto line = line_of(observer, owed.events[at], position);
      if (!line) return fail(std::move(line.error()));
      const auto status = run_shell(options_.command, *line);
      if (!status) return fail(status.error());
      if (*status != 0) {
        fmt::print(stderr,
                   "runwire: the command refused position {} with status {}\n",
                   position.value,
                   *status);
        return observer.refuse(position, fmt::format("exit status {}", *status));
      }
      if (auto kept = journal_ ? journal_->append(*line) : Status{}; !kept) return kept;
      if (auto acked = observer.ack(position); !acked) return acked;
      ++taken_;
    }
    return {};
  }

  const ObserveOptions& options_;
  const Common& common_;
  std::optional<JournalFile> journal_{};
  std::uint64_t taken_ = 0;
};

}  // namespace

void add_observe(CLI::App& app, Common& common) {
  auto options = std::make_shared<ObserveOptions>();
  CLI::App* command =
      app.add_subcommand("observe", "Be a required observer: take what is owed, then ack it");
  add_client_options(*command, common);
  command->add_option("NAME", options->name, "As in: runwire serve --require NAME")->required();
  command
      ->add_option("--out",
                   options->out,
                   "Append NDJSON here and sync, then ack; goes on after its last line")
      ->type_name("FILE");
  command
      ->add_option("--exec",
                   options->command,
                   "Run this for each event, JSON on its input; status 0 acks it")
      ->type_name("COMMAND");
  command->add_option("--count", options->count, "Stop after so many events")
      ->check(CLI::PositiveNumber);
  command->footer("Example:\n  runwire observe audit --out /var/log/audit.ndjson");
  command->callback([options, &common] {
    common.chosen = [options, &common] { return Consumer(*options, common).run(); };
  });
}

}  // namespace runwire::cli
