#include "bus/source/endpoints.hpp"

#include "bus/zmq/endpoint.hpp"
#include "bus/zmq/ipc_path.hpp"

#include <filesystem>
#include <system_error>

namespace runwire::bus {
namespace {

/// `.attach-`, and the digits of any term and any number.
constexpr std::size_t suffix_bytes_max = 8 + 20 + 1 + 20;

}  // namespace

Result<Endpoints> Endpoints::beside(std::string_view listen) {
  const auto judged = judge_bind(listen);
  if (!judged) return fail(judged.error());
  Endpoints endpoints;
  endpoints.requests_ = listen;
  if (judged->ipc) {
    if (judged->path.size() + suffix_bytes_max > IpcPath::path_bytes_max) {
      return fail(
          Error{ErrorCode::too_large, "listen: the path is too long for the sockets beside it", {}}
              .with("bytes", judged->path.size())
              .with("limit", IpcPath::path_bytes_max - suffix_bytes_max));
    }
  } else {
    endpoints.host_ = listen.substr(0, listen.rfind(':'));
  }
  return endpoints;
}

std::string Endpoints::attach(Term term, std::uint64_t number) const {
  return sibling("attach-" + std::to_string(term.value) + "-" + std::to_string(number));
}

void Endpoints::remove_left_attaches() const {
  if (!host_.empty()) return;
  const std::filesystem::path base(sibling("attach-").substr(std::string_view("ipc://").size()));
  std::error_code
      ignored;  // What cannot be removed stays in nobody's way: its name is not used again.
  for (const auto& entry : std::filesystem::directory_iterator(base.parent_path(), ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(base.filename().string())) std::filesystem::remove(entry.path(), ignored);
  }
}

std::string Endpoints::sibling(std::string_view suffix) const {
  if (!host_.empty()) return host_ + ":*";
  return requests_ + "." + std::string(suffix);
}

}  // namespace runwire::bus
