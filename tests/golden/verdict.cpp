#include "tests/golden/verdict.hpp"

#include "codec/json/canonical.hpp"
#include "codec/wire/event_codec.hpp"
#include "codec/wire/messages.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

namespace runwire::golden {
namespace {

using Json = nlohmann::json;

Bytes from_hex(std::string_view text) {
  Bytes bytes;
  bytes.reserve(text.size() / 2);
  for (std::size_t at = 0; at + 1 < text.size(); at += 2) {
    bytes.push_back(
        static_cast<std::byte>(std::stoi(std::string(text.substr(at, 2)), nullptr, 16)));
  }
  return bytes;
}

std::string text_of(const Bytes& bytes) {
  return std::string(as_text(bytes));
}

// ---- Events -------------------------------------------------------------------------------------

Event described(const Json& fields) {
  Event event;
  std::ranges::copy(from_hex(fields["id"].get<std::string>()), event.id.bytes.begin());
  event.type = fields["type"].get<std::string>();
  event.time = fields["time"].get<std::uint64_t>();
  for (const auto& [key, value] : fields["location"].items())
    event.location.emplace_back(key, value.get<std::string>());
  event.subject = fields["subject"].get<std::string>();
  const auto seq = fields["seq"].get<std::uint64_t>();
  if (seq != 0) {
    event.durable =
        Durable{.version = fields["version"].get<std::uint32_t>(), .seq = Sequence{seq}};
  }
  event.data = text_of(from_recipe(fields["data"].get<std::string>()));
  event.unknown = from_hex(fields["unknown"].get<std::string>());
  return event;
}

std::string event_verdict(const Json& vector, const Bytes& bytes) {
  std::size_t offset = 0;
  auto view = wire::decode_event(bytes, offset);
  if (!view) return std::string(to_string(view.error().code));
  if (offset != bytes.size()) return "invalid";
  if (!vector.contains("event")) return "ok";
  Event wanted = described(vector["event"]);
  std::ranges::sort(wanted.location);
  auto event = wire::to_event(*view);
  if (!event || *event != wanted) return "differs: the fields";
  Bytes again;
  if (auto encoded = wire::encode_event(wanted, again); !encoded || again != bytes)
    return "differs: the bytes written";
  return "ok";
}

// ---- JSON ---------------------------------------------------------------------------------------

std::string json_verdict(const Json& vector, const Bytes& text) {
  auto canonical = json::canonicalise(as_text(text));
  if (!canonical) {
    const auto offset = canonical.error().number("offset");
    if (vector.contains("offset") && offset != vector["offset"].get<std::uint64_t>())
      return "differs: offset " + std::to_string(offset.value_or(0));
    return std::string(to_string(canonical.error().code));
  }
  if (!vector.contains("canonical")) return "ok";
  const std::string wanted = text_of(from_recipe(vector["canonical"].get<std::string>()));
  if (*canonical != wanted) return "differs: " + *canonical;
  const auto again = json::is_canonical(wanted);
  return again && *again ? "ok" : "differs: the canonical form is not canonical";
}

// ---- Messages -----------------------------------------------------------------------------------

template <class Message>
std::string message_verdict(const Result<Message>& decoded, const Bytes& bytes, bool canonical) {
  if (!decoded) return std::string(to_string(decoded.error().code));
  if (canonical && wire::encode(*decoded) != bytes) return "differs: the bytes written";
  return "ok";
}

std::string header_verdict(const Json& vector, const Bytes& bytes) {
  const auto message = vector["message"].get<std::string>();
  const bool canonical = vector.value("canonical", false);
  if (message == "request") {
    wire::Addressed addressed;
    return message_verdict(wire::decode_request(bytes, addressed), bytes, canonical);
  }
  if (message == "reply") return message_verdict(wire::decode_reply(bytes), bytes, canonical);
  if (message == "delivery") return message_verdict(wire::decode_delivery(bytes), bytes, canonical);
  if (message == "ack") return message_verdict(wire::decode_ack(bytes), bytes, canonical);
  return message_verdict(wire::decode_live(bytes), bytes, canonical);
}

}  // namespace

Bytes from_recipe(std::string_view recipe) {
  Bytes bytes;
  std::istringstream words{std::string(recipe)};
  for (std::string word; words >> word;) {
    const std::size_t star = word.find('*');
    const Bytes unit = from_hex(word.substr(0, star));
    const std::size_t times = star == std::string::npos ? 1 : std::stoul(word.substr(star + 1));
    for (std::size_t at = 0; at < times; ++at)
      bytes.insert(bytes.end(), unit.begin(), unit.end());
  }
  return bytes;
}

namespace {

std::string verdict(const Json& vector) {
  if (vector.contains("json"))
    return json_verdict(vector, from_recipe(vector["json"].get<std::string>()));
  const Bytes bytes = from_recipe(vector["bytes"].get<std::string>());
  return vector.contains("message") ? header_verdict(vector, bytes) : event_verdict(vector, bytes);
}

}  // namespace

Verdict judge(std::string_view line) {
  const Json vector = Json::parse(line);
  return {.name = vector["name"].get<std::string>(),
          .expected = vector.value("error", "ok"),
          .given = verdict(vector)};
}

}  // namespace runwire::golden
