#include "codec/wire/event_codec.hpp"
#include "fuzz/require.hpp"

#include <msgpack.hpp>

#include <cstring>
#include <map>
#include <string>

using namespace runwire;
using fuzz::require;

namespace {

/// What a general decoder, which builds a tree of objects, says of the same bytes.
using Tree = std::map<std::string, msgpack::object>;

Tree tree_of(const msgpack::object& object) {
  Tree tree;
  require(object.type == msgpack::type::MAP, "an event is a map");
  const auto& map = object.via.map;
  for (std::uint32_t at = 0; at < map.size; ++at) {
    const auto& pair = map.ptr[at];
    tree.emplace(pair.key.as<std::string>(), pair.val);
  }
  require(tree.size() == map.size, "no key comes twice");
  return tree;
}

std::string text_at(const Tree& tree, const char* key) {
  const auto found = tree.find(key);
  return found == tree.end() ? std::string() : found->second.as<std::string>();
}

void compare(const EventView& view, const Tree& tree) {
  require(text_at(tree, "type") == view.type, "the same type");
  require(text_at(tree, "subject") == view.subject, "the same subject");
  require(text_at(tree, "data") == view.data, "the same data");
  require(tree.at("time").as<std::uint64_t>() == view.time, "the same time");
  const auto id = tree.at("id").as<std::vector<char>>();
  require(id.size() == 16 && std::memcmp(id.data(), view.id.bytes.data(), 16) == 0, "the same id");
  require(tree.contains("durable") == view.durable.has_value(), "durable in both or in none");
  if (view.durable) {
    const Tree durable = tree_of(tree.at("durable"));
    const std::uint64_t seq =
        fuzz::bug("seq") ? view.durable->seq.value + 1 : view.durable->seq.value;
    require(durable.at("seq").as<std::uint64_t>() == seq, "the same sequence");
    require(durable.at("version").as<std::uint64_t>() == view.durable->version, "the same version");
  }
}

}  // namespace

/// Whatever the decoder takes, a general msgpack decoder takes too, to the same end and with the
/// same fields: nothing is read that is not there, and nothing is read otherwise than it stands.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const ByteView frame = fuzz::input(data, size);
  std::size_t offset = 0;
  const auto view = wire::decode_event(frame, offset);
  if (!view) return 0;
  std::size_t end = 0;
  const std::string_view text = as_text(frame);
  const msgpack::object_handle handle = msgpack::unpack(text.data(), text.size(), end);
  require(end == offset, "both end at the same byte");
  compare(*view, tree_of(handle.get()));
  return 0;
}
