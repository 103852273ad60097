#include "bridge/cli/commands.hpp"
#include "bridge/cli/exit_codes.hpp"
#include "bridge/cli/interrupt.hpp"
#include "bridge/cli/output.hpp"
#include "bridge/cli/sabotage.hpp"
#include "bus/source/server.hpp"
#include "engine/store/open.hpp"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <fmt/core.h>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

namespace runwire::cli {
namespace {

struct ServeOptions {
  std::string data{};
  bool memory = false;
  std::string listen{};
  std::vector<std::string> required{};
  std::vector<std::string> skip{};
  bool from_start = false;
  std::uint64_t ack_deadline_ms = static_cast<std::uint64_t>(limits::ack_deadline.count());
  std::uint64_t lease_ms = static_cast<std::uint64_t>(limits::lease.count());
  std::string ready_file{};
};

/// `NAME=N` each.
Result<std::map<std::string, ObserverPolicy>> policies_of(const std::vector<std::string>& skips) {
  std::map<std::string, ObserverPolicy> policies;
  for (const std::string& skip : skips) {
    const std::size_t equals = skip.find('=');
    std::uint64_t times = 0;
    const char* end = skip.data() + skip.size();
    if (equals != std::string::npos) std::from_chars(skip.data() + equals + 1, end, times);
    if (times == 0) {
      return fail(
          Error{ErrorCode::invalid, "--skip: wants NAME=N, N from 1", {}}.with("given", skip));
    }
    policies[skip.substr(0, equals)].skip_after = times;
  }
  return policies;
}

Result<std::unique_ptr<Store>> open_store(const ServeOptions& options,
                                          IdSource& ids,
                                          const Clock& clock) {
  if (options.memory) return make_memory_store({}, ids);
  return open_segments({.directory = options.data}, ids, clock);
}

void say_recovery(spdlog::logger& log, const Store& store) {
  const RecoveryReport report = store.recovery();
  if (report.tail_bytes_cut > 0) {
    log.warn(
        "recovery: {} torn bytes behind the last whole batch were cut; no answered event was in "
        "them",
        report.tail_bytes_cut);
  }
  if (report.events_kept_unsynced > 0) {
    log.info("recovery: {} whole events that were not known to be synced were kept and synced",
             report.events_kept_unsynced);
  }
  if (report.catalogue_rebuilt) log.info("recovery: the catalogue was rebuilt from the segments");
}

/// Whole or not at all: a reader never sees half of it.
Status write_ready_file(const std::string& path, const std::string& content) {
  const std::string temporary = path + ".tmp";
  std::ofstream file(temporary, std::ios::trunc);
  file << content << '\n';
  file.close();
  if (!file || std::rename(temporary.c_str(), path.c_str()) != 0) {
    return fail(Error{ErrorCode::internal, "cannot write the ready file", {}}.with("path", path));
  }
  return {};
}

std::string ready_text(const bus::Server& server, const LogId& log, Term term) {
  return fmt::format(R"({{"endpoint":{},"log":"{}","term":{},"pid":{}}})",
                     json_string(server.endpoint()),
                     to_string(log),
                     term.value,
                     ::getpid());
}

/// Returns when somebody asked for it. Says it once when the store has failed: reads go on, so that
/// nobody loses sight of what is there, and nothing is written until a new process read it again.
void wait_for_the_end(const bus::Server& server, spdlog::logger& log) {
  constexpr std::chrono::seconds look_interval{1};
  bool said = false;
  while (!wait_interrupted(look_interval)) {
    if (said) continue;
    const auto failure = server.failed();
    if (!failure) continue;
    said = true;
    log.critical(
        "{}. Every append is refused from now on; reading goes on. Mend the disk, then restart "
        "this server: it reads the log again and goes on behind the last event that is whole",
        describe(*failure));
  }
}

int serve(ServeOptions options) {
  if (options.listen.empty()) {
    auto own = own_endpoint();
    if (!own) return report(own.error());
    options.listen = std::move(*own);
  }
  auto policies = policies_of(options.skip);
  if (!policies) return report(policies.error());
  spdlog::logger log("runwire", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  const SystemClock clock;
  SystemIds ids;
  auto store = open_store(options, ids, clock);
  if (!store) return report(store.error());
  say_recovery(log, **store);
  const char* wanted =
      std::getenv("RUNWIRE_BREAK");  // NOLINT(concurrency-mt-unsafe): before any thread
  const auto sabotage = sabotage_from(wanted == nullptr ? "" : wanted);
  if (!sabotage) return report({ErrorCode::invalid, "RUNWIRE_BREAK: no such bug", {}});
  if (*sabotage != Sabotage::none)
    log.critical("RUNWIRE_BREAK={}: this server breaks its promises", wanted);
  *store = sabotaged(std::move(*store), *sabotage);
  const LogId log_id = (*store)->log_id();
  const Term term = (*store)->term();
  const Position last = (*store)->last();
  bus::ServerOptions server_options{.listen = options.listen};
  server_options.engine.required = options.required;
  server_options.engine.policies = std::move(*policies);
  server_options.engine.new_observers_from_start = options.from_start;
  server_options.engine.ack_deadline = std::chrono::milliseconds(options.ack_deadline_ms);
  server_options.engine.lease = std::chrono::milliseconds(options.lease_ms);
  auto server = bus::Server::open(server_options, std::move(*store), clock, ids);
  if (!server) return report(server.error());
  std::jthread acker;
  if (*sabotage == Sabotage::early_publish)
    acker = early_acker(**server, (*server)->engine().store());
  log.info("serving log {} (term {}, {} events) at {}",
           to_string(log_id),
           term.value,
           last.value,
           (*server)->endpoint());
  for (const std::string& name : options.required)
    log.info("nobody sees an event before {} has acked it", name);
  if (!options.ready_file.empty()) {
    if (auto written = write_ready_file(options.ready_file, ready_text(**server, log_id, term));
        !written) {
      return report(written.error());
    }
  }
  wait_for_the_end(**server, log);
  log.info("stopping: what was taken is written and answered first");
  // A disk that hangs must not keep the process for ever: the log survives an end at any moment.
  ::alarm(static_cast<unsigned>(
      std::chrono::ceil<std::chrono::seconds>(limits::drain_timeout).count()));
  acker = {};
  (*server)->stop();
  const Positions end = (*server)->engine().positions();
  log.info("stopped at position {}", end.committed.value);
  return exit_ok;
}

}  // namespace

void add_serve(CLI::App& app, Common& common) {
  auto options = std::make_shared<ServeOptions>();
  CLI::App* command = app.add_subcommand("serve", "Serve one log until SIGINT or SIGTERM");
  command->fallthrough();  // for --config, which is the application's
  command->add_option("--data", options->data, "Directory of the log; made when missing")
      ->type_name("DIR");
  command->add_flag("--memory", options->memory, "No disk: for tests, gone with the process");
  command
      ->add_option(
          "--listen", options->listen, "ipc or loopback tcp endpoint (port * takes a free one)")
      ->type_name("URL");
  command
      ->add_option("--require", options->required, "A required observer, in order; may be repeated")
      ->type_name("NAME")
      ->take_all();
  command
      ->add_option(
          "--skip",
          options->skip,
          "After N refusals of one event in a row NAME is owed it no more; recorded, and an "
          "observer.skipped event says so")
      ->type_name("NAME=N")
      ->take_all();
  command->add_flag(
      "--from-start", options->from_start, "A new required observer gets the whole log");
  command->add_option("--ack-deadline-ms", options->ack_deadline_ms, "From a delivery to its ack")
      ->check(CLI::Range(1, 600'000));
  command->add_option("--lease-ms", options->lease_ms, "A claim lives that long without a renewal")
      ->check(CLI::Range(100, 600'000));
  command
      ->add_option(
          "--ready-file", options->ready_file, "Written, as JSON, when requests are served")
      ->type_name("FILE");
  command->footer(
      "Examples:\n  runwire serve --data /var/lib/runwire\n  runwire serve --data d --require "
      "audit\n  runwire serve --config runwire.toml    # [serve], then data = \"...\"");
  command->callback([options, &common] {
    if (options->memory != options->data.empty()) {
      throw CLI::ValidationError("serve", "give either --data DIR or --memory");
    }
    common.chosen = [options] { return serve(*options); };
  });
}

}  // namespace runwire::cli
