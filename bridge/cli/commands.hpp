#pragma once

#include "bus/client/connection.hpp"
#include "codec/base/result.hpp"

#include <CLI/CLI.hpp>
#include <chrono>
#include <functional>
#include <string>

/// One file a command. Each adds itself to the application and, where it was chosen, leaves what is
/// to be run in `Chosen`.
namespace runwire::cli {

/// A person waits for "no server"; appends wait for their own deadline, over restarts.
inline constexpr std::chrono::milliseconds no_server_after{2'000};

struct Common {
  std::string url{};  ///< Empty: the default endpoint.
  bool json = false;
  std::function<int()> chosen{};

  [[nodiscard]] client::ConnectOptions connect() const {
    return {.endpoint = url, .agent = "runwire-cli", .timeout = no_server_after};
  }
};

/// Adds `--connect` and `--json`.
void add_client_options(CLI::App& command, Common& common);
/// Where clients go and servers listen unless told otherwise; makes its directory (mode 0700) for a
/// server. `invalid` where somebody else owns it.
[[nodiscard]] Result<std::string> own_endpoint();

void add_serve(CLI::App& app, Common& common);
void add_append(CLI::App& app, Common& common);
void add_tail(CLI::App& app, Common& common);
void add_observe(CLI::App& app, Common& common);
void add_runs(CLI::App& app, Common& common);
void add_observers(CLI::App& app, Common& common);
void add_status(CLI::App& app, Common& common);
void add_play(CLI::App& app, Common& common);

}  // namespace runwire::cli
