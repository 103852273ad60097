#include "bridge/cli/commands.hpp"

#include <cerrno>
#include <sys/stat.h>
#include <unistd.h>

namespace runwire::cli {

void add_client_options(CLI::App& command, Common& common) {
  command.add_option("--connect", common.url, "Endpoint of the server's requests")
      ->type_name("URL");
  command.add_flag("--json", common.json, "NDJSON on a terminal too");
}

Result<std::string> own_endpoint() {
  std::string endpoint = client::default_endpoint();
  if (!endpoint.starts_with("ipc://")) return endpoint;
  const std::string path = endpoint.substr(6);
  const std::string directory = path.substr(0, path.rfind('/'));
  if (::mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST) {
    return fail(Error{
        ErrorCode::internal,
        "cannot make the directory of the socket; name another with --listen",
        {}}.with("directory", directory));
  }
  struct stat info{};
  if (::lstat(directory.c_str(), &info) != 0 || !S_ISDIR(info.st_mode) ||
      info.st_uid != ::getuid()) {
    return fail(Error{
        ErrorCode::invalid,
        "the directory of the socket belongs to somebody else; use --listen",
        {}}.with("directory", directory));
  }
  return endpoint;
}

}  // namespace runwire::cli
