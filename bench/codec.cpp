// `./dev bench codec`: the event codec beside msgpack-cxx's own packer and visitor, and the check
// of canonical JSON beside simdjson's own walk, interleaved round by round in one run, on one core.

#include "bench/report.hpp"
#include "codec/json/canonical.hpp"
#include "codec/wire/event_codec.hpp"

#include <msgpack.hpp>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <fmt/core.h>
#include <simdjson.h>
#include <string>
#include <string_view>

using namespace runwire;
using namespace runwire::bench;

namespace {

constexpr std::size_t data_bytes = 256;
constexpr std::size_t frame_events = 1024;  // 380 KB: what a page of a replay has
constexpr std::size_t text_bytes = 256 * 1024;

[[noreturn]] void give_up(std::string_view what) {
  fmt::print(stderr, "bench: {}\n", what);
  std::exit(1);
}

/// Canonical data of exactly data_bytes, as a text delta has it.
std::string sample_data() {
  const std::string head = R"({"content":"c-1","delta":")";
  return head + std::string(data_bytes - head.size() - 2, 'x') + R"("})";
}

Event sample_event() {
  Event event;
  for (std::size_t at = 0; at < event.id.bytes.size(); ++at)
    event.id.bytes[at] = std::byte(at);
  event.type = "text.delta";
  event.time = 1'790'000'000'000'000;
  event.subject = "run-0123456789";
  event.durable = Durable{.version = 1, .seq = {42}};
  event.data = sample_data();
  return event;
}

/// A canonical document of tool results: strings, whole numbers, fractions, nesting.
std::string sample_text() {
  std::string text = "[";
  for (std::size_t row = 0; text.size() < text_bytes; ++row) {
    if (row > 0) text += ',';
    text += fmt::format(
        R"({{"attempt":{},"cost":0.00{}5,"ok":true,"output":"The migration of table {} has ended without an error.","path":["src","module","file-{}.cpp"]}})",
        row,
        row % 9 + 1,
        row,
        row);
  }
  return text + "]";
}

/// Calls of `work` a second, each worth `units`, over at least `least` of time.
template <typename Work>
double rate(double units, std::chrono::milliseconds least, Work work) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  double done = 0;
  auto spent = Clock::duration::zero();
  do {
    work();
    done += units;
    spent = Clock::now() - begin;
  } while (spent < least);
  return done / std::chrono::duration<double>(spent).count();
}

Bytes encoded_frame(const Event& event) {
  Bytes frame;
  for (std::size_t at = 0; at < frame_events; ++at) {
    if (!wire::encode_event(event, frame)) give_up("the sample event is refused");
  }
  return frame;
}

/// The same fields by the general packer, which checks nothing.
void pack_event(msgpack::packer<msgpack::sbuffer>& packer, const Event& event) {
  packer.pack_map(6);
  packer.pack_str(2).pack_str_body("id", 2);
  packer.pack_bin(16).pack_bin_body(reinterpret_cast<const char*>(event.id.bytes.data()), 16);
  packer.pack(std::string_view("type")).pack(event.type);
  packer.pack(std::string_view("time")).pack(event.time);
  packer.pack(std::string_view("subject")).pack(event.subject);
  packer.pack(std::string_view("durable"));
  packer.pack_map(2);
  packer.pack(std::string_view("version")).pack(event.durable->version);
  packer.pack(std::string_view("seq")).pack(event.durable->seq.value);
  packer.pack(std::string_view("data")).pack(event.data);
}

void encode_msgpack(const Event& event, msgpack::sbuffer& out) {
  out.clear();
  msgpack::packer packer(out);
  for (std::size_t at = 0; at < frame_events; ++at)
    pack_event(packer, event);
}

void encode_ours(const Event& event, Bytes& out) {
  out.clear();
  for (std::size_t at = 0; at < frame_events; ++at) {
    if (!wire::encode_event(event, out)) give_up("the sample event is refused");
  }
}

void visit_msgpack(const Bytes& frame) {
  msgpack::null_visitor visitor;
  std::size_t offset = 0;
  const auto* const text = reinterpret_cast<const char*>(frame.data());
  while (offset < frame.size()) {
    if (!msgpack::parse(text, frame.size(), offset, visitor)) give_up("msgpack-cxx stops");
  }
}

void decode_ours(const Bytes& frame) {
  std::size_t offset = 0;
  while (offset < frame.size()) {
    if (!wire::decode_event(frame, offset)) give_up("the sample frame is refused");
  }
}

/// What the measurements read and write; outlives the reports.
struct Samples {
  Event event = sample_event();
  Bytes frame = encoded_frame(event);
  std::string text = sample_text();
  simdjson::padded_string padded{text};
  msgpack::sbuffer packed{};
  Bytes encoded{};
  simdjson::dom::parser dom{};
};

constexpr std::chrono::milliseconds least{300};

void add_event_rows(Report& report, Samples& samples) {
  const auto count = static_cast<double>(frame_events);
  report.add("msgpack-cxx: packer, no checks", "", [&samples, count] {
    return rate(count, least, [&] { encode_msgpack(samples.event, samples.packed); });
  });
  report.add("encode_event, checked", "msgpack-cxx: packer, no checks", [&samples, count] {
    return rate(count, least, [&] { encode_ours(samples.event, samples.encoded); });
  });
  report.add("msgpack-cxx: empty visitor", "", [&samples, count] {
    return rate(count, least, [&] { visit_msgpack(samples.frame); });
  });
  report.add("decode_event, views, checked", "msgpack-cxx: empty visitor", [&samples, count] {
    return rate(count, least, [&] { decode_ours(samples.frame); });
  });
}

void add_json_rows(Report& report, Samples& samples) {
  const auto bytes = static_cast<double>(samples.text.size());
  report.add("simdjson: parse of 256 KiB", "", [&samples, bytes] {
    return rate(bytes, least, [&] {
      if (samples.dom.parse(samples.padded).error() != simdjson::SUCCESS) give_up("simdjson stops");
    });
  });
  report.add("is_canonical, 256 KiB", "simdjson: parse of 256 KiB", [&samples, bytes] {
    return rate(bytes, least, [&] {
      const auto canonical = json::is_canonical(samples.text);
      if (!canonical || !*canonical) give_up("the sample text is not canonical");
    });
  });
  report.add("is_canonical, 256 B", "simdjson: parse of 256 KiB", [&samples] {
    return rate(static_cast<double>(data_bytes), least, [&] {
      const auto canonical = json::is_canonical(samples.event.data);
      if (!canonical || !*canonical) give_up("the sample data is not canonical");
    });
  });
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"The codec beside msgpack-cxx and simdjson, one core"};
  std::string json;
  int rounds = 5;
  app.add_option("--json", json, "Write the figures to this file as well");
  app.add_option("--rounds", rounds, "Rounds; the table has their medians")
      ->check(CLI::Range(1, 50));
  CLI11_PARSE(app, argc, argv);

  Samples samples;
  Report events;
  Report texts("bytes/s");
  add_event_rows(events, samples);
  add_json_rows(texts, samples);
  events.run(rounds);
  texts.run(rounds);
  fmt::print("{} bytes of data an event ({} encoded), medians of {} rounds, one core. {}.\n\n",
             data_bytes,
             samples.frame.size() / frame_events,
             rounds,
             machine_line("."));
  events.print_markdown();
  fmt::print("\n");
  texts.print_markdown();
  return json.empty() || events.write_json(json, &texts) ? 0 : 1;
}
