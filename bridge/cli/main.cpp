#include "bridge/cli/commands.hpp"
#include "bridge/cli/exit_codes.hpp"
#include "bridge/cli/interrupt.hpp"

#include <cstdio>
#include <exception>

int main(int argc, char** argv) {
  namespace cli = runwire::cli;
  CLI::App app{"Runwire: one log, many cursors.", "runwire"};
  app.require_subcommand(1);
  app.set_version_flag("--version", "runwire 0.1.0, protocol 1");
  app.footer(
      "Exit codes: 0 done, 1 refused, 2 usage, 3 no server, 4 cursor, 5 fenced, 6 store locked or "
      "broken,\n"
      "130 interrupted. Output is NDJSON when it is piped.");
  app.set_config("--config", "", "Options as TOML; those of a command in a table of its name");
  app.allow_config_extras(CLI::config_extras_mode::error);  // a misspelt option is not ignored
  cli::Common common;
  cli::add_serve(app, common);
  cli::add_append(app, common);
  cli::add_tail(app, common);
  cli::add_observe(app, common);
  cli::add_runs(app, common);
  cli::add_observers(app, common);
  cli::add_status(app, common);
  cli::add_play(app, common);
  try {
    app.parse(argc, argv);
    cli::catch_signals();
    return common.chosen();
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? cli::exit_ok : cli::exit_usage;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "runwire: internal: %s\n", error.what());
    return cli::exit_refused;
  }
}
