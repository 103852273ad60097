#include "codec/wire/event_codec.hpp"
#include "tests/support/message_samples.hpp"

#include <array>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <utility>

/// Writes the inputs from which the fuzz targets start, a few small real encodings for each, into
/// DIRECTORY/NAME. The seed is fixed: the same sources write the same files.
namespace runwire::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t seed = 1;
constexpr std::size_t input_bytes_max = 4096;

class Corpus {
 public:
  explicit Corpus(fs::path directory) : directory_(std::move(directory)) {
    fs::create_directories(directory_);
  }

  /// A sample that is long by chance is left out: small inputs change faster.
  void add(ByteView bytes) {
    if (bytes.size() > input_bytes_max) return;
    std::ofstream file(directory_ / (std::string(count_ < 10 ? "0" : "") + std::to_string(count_)),
                       std::ios::binary);
    file << as_text(bytes);
    ++count_;
  }

 private:
  fs::path directory_;
  std::size_t count_ = 0;
};

Event event_of(bool durable, bool more) {
  Event event;
  for (std::byte& byte : event.id.bytes)
    byte = std::byte{0x5a};
  event.type = durable ? "turn.started" : "text.delta";
  event.time = 1'700'000'000'000'000;
  if (more) event.location = {{"host", "h"}, {"node", "n-1"}};
  if (durable || more) event.subject = "run-1";
  if (durable)
    event.durable = Durable{.version = more ? 300U : 1U, .seq = Sequence{more ? 70'000U : 1U}};
  event.data = durable ? R"({"turn":1})" : R"({"delta":"x","index":0,"text_id":"t"})";
  if (more) {
    const ByteView unknown = as_bytes("\xa3new\x92\x01\xa1x\xa1z\x81\xa1k\xc0");
    event.unknown.assign(unknown.begin(), unknown.end());
  }
  return event;
}

bool write_events(const fs::path& directory) {
  Corpus corpus(directory);
  Bytes all;
  for (const auto& [durable, more] :
       {std::pair{false, false}, {false, true}, {true, false}, {true, true}}) {
    Bytes one;
    const Event event = event_of(durable, more);
    if (!wire::encode_event(event, one) || !wire::encode_event(event, all)) return false;
    corpus.add(one);
  }
  corpus.add(all);
  return true;
}

void write_messages(const fs::path& directory) {
  test::Samples samples(seed);
  Corpus requests(directory / "request");
  for (const auto& request : samples.requests())
    requests.add(wire::encode(request));
  Corpus messages(directory / "message");
  for (const auto& reply : samples.replies())
    messages.add(wire::encode(reply));
  for (const auto& delivery : samples.deliveries())
    messages.add(wire::encode(delivery));
  for (const auto& ack : samples.acks())
    messages.add(wire::encode(ack));
  for (const auto& live : samples.lives())
    messages.add(wire::encode(live));
}

void write_json(const fs::path& directory) {
  static constexpr std::array<std::string_view, 8> texts{
      R"({"a":[1,2.5,-7,1e+30],"b":{"c":null,"d":[true,false,{}]}})",
      " { \"b\" : 1.0 , \"a\" : [ 1E2 , -0 , 5e-324 ] }\r\n",
      R"(["\u20ac\ud83d\ude00\n\t\u000f\/\"\\", "\u0041"])",
      "{\"\xf0\x9f\x98\x80\":1,\"\xef\xac\xb3\":2,\"\\n\":3}",
      R"({"x":{"":0,"y":[[[[]]]]}})",
      "9007199254740991",
      R"({"a":1,"a":2})",
      R"("\ud800")",
  };
  Corpus corpus(directory);
  for (const std::string_view text : texts)
    corpus.add(as_bytes(text));
}

}  // namespace
}  // namespace runwire::fuzz

int main(int count, char** arguments) {
  if (count != 2) {
    std::cerr << "usage: make_corpus DIRECTORY\n";
    return 2;
  }
  const std::filesystem::path directory(arguments[1]);
  if (!runwire::fuzz::write_events(directory / "event")) return 1;
  runwire::fuzz::write_messages(directory);
  runwire::fuzz::write_json(directory / "canonical_json");
  return 0;
}
