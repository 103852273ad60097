#include "bus/zmq/endpoint.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <charconv>

namespace runwire::bus {
namespace {

constexpr std::string_view ipc_scheme = "ipc://";
constexpr std::string_view tcp_scheme = "tcp://";

std::unexpected<Error> refuse(std::string_view endpoint, std::string_view why) {
  return fail(
      Error{ErrorCode::invalid, "endpoint: " + std::string(why), {}}.with("endpoint", endpoint));
}

bool is_port(std::string_view text) {
  if (text == "*") return true;
  unsigned port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc{} && end == text.data() + text.size() && port > 0 && port < 65536;
}

bool is_loopback(const std::string& host) {
  in_addr four{};
  if (::inet_pton(AF_INET, host.c_str(), &four) == 1) return (ntohl(four.s_addr) >> 24) == 127;
  return host == "[::1]";
}

}  // namespace

Result<BindEndpoint> judge_bind(std::string_view endpoint) {
  if (endpoint.starts_with(ipc_scheme)) {
    return BindEndpoint{
        true, std::string(endpoint.substr(ipc_scheme.size())), std::string(endpoint)};
  }
  if (!endpoint.starts_with(tcp_scheme))
    return refuse(endpoint, "wants ipc://PATH or tcp://HOST:PORT");
  const std::string_view place = endpoint.substr(tcp_scheme.size());
  const std::size_t colon = place.rfind(':');
  if (colon == std::string_view::npos || !is_port(place.substr(colon + 1))) {
    return refuse(endpoint, "wants a port of 1..65535 or *");
  }
  std::string host(place.substr(0, colon));
  // libzmq resolves no names when it binds.
  if (host == "localhost") host = "127.0.0.1";
  if (!is_loopback(host)) {
    return refuse(endpoint, "only this machine is listened to: 127.0.0.1, localhost or [::1]");
  }
  return BindEndpoint{false, {}, std::string(tcp_scheme) + host + std::string(place.substr(colon))};
}

Status judge_connect(std::string_view endpoint) {
  const bool known = (endpoint.starts_with(ipc_scheme) && endpoint.size() > ipc_scheme.size()) ||
                     (endpoint.starts_with(tcp_scheme) && endpoint.size() > tcp_scheme.size());
  if (!known) return refuse(endpoint, "wants ipc://PATH or tcp://HOST:PORT");
  if (std::ranges::find(endpoint, '\0') != endpoint.end())
    return refuse(endpoint, "has a zero byte");
  return {};
}

}  // namespace runwire::bus
