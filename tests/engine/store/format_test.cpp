#include "engine/store/segments/format.hpp"

#include "engine/store/segments/catalogue_blobs.hpp"
#include "engine/store/segments/control.hpp"
#include "engine/store/segments/scan.hpp"
#include "engine/store/segments/varint.hpp"
#include "tests/engine/store/scribe.hpp"
#include "tests/engine/store/store_bench.hpp"
#include "tests/support/source_directory.hpp"

#include <catch2/catch.hpp>

#include <array>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

using namespace runwire;
using namespace runwire::segments;
using test::Scribe;
using test::StoreBench;

namespace {

std::string hex_line(ByteView bytes, std::size_t offset) {
  std::array<char, 24> text{};  // Room for any offset, as the compiler sees it.
  std::snprintf(text.data(), text.size(), "%04zx ", offset);
  std::string line(text.data());
  for (const std::byte byte : bytes) {
    std::snprintf(text.data(), text.size(), " %02x", std::to_integer<unsigned>(byte));
    line += text.data();
  }
  return line;
}

/// The lines of the worked example: those of the page that begin with four hex digits.
std::vector<std::string> documented() {
  std::ifstream page(test::source_directory() / "docs" / "log-format.md");
  std::vector<std::string> lines;
  for (std::string line; std::getline(page, line);) {
    if (line.find_first_not_of("0123456789abcdef") == 4 && line[4] == ' ') lines.push_back(line);
  }
  return lines;
}

/// A log of one event, closed: what docs/log-format.md shows.
Bytes example_file() {
  StoreBench bench(StoreBench::Kind::simulated);
  auto store = bench.open();
  Scribe scribe;
  REQUIRE(scribe.event("run-1", "hello").commit(*store));
  store.reset();
  return *bench.disk.contents(segment_name(1));
}

}  // namespace

TEST_CASE("Format: the example of docs/log-format.md is what the code writes", "[store][format]") {
  const Bytes file = example_file();
  const auto scan = scan_segment(file, segment_name(1), std::nullopt);
  REQUIRE(scan);
  CHECK(scan->batches.size() == 3);
  CHECK(scan->batches.back().header.flag == BatchFlag::closed);
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < scan->end; at += 16) {
    lines.push_back(
        hex_line(ByteView(file).subspan(at, std::min<std::size_t>(16, scan->end - at)), at));
  }
  CHECK(lines == documented());
}

TEST_CASE("Format: a batch at another place, or of another log, is none", "[store][format]") {
  std::array<std::byte, batch_header_bytes> bytes{};
  const LogId log{};
  const BatchHeader header{
      .records = 1, .first = {5}, .last = {5}, .term = {2}, .synced_to = {4}, .synced_bytes = 640};
  encode(header, place_key(log, 3, 640), bytes.data());
  const auto found = decode_batch_header(bytes, place_key(log, 3, 640));
  REQUIRE(found);
  CHECK(found->first == Position{5});
  CHECK(found->synced_to == Position{4});
  CHECK(found->synced_bytes == 640);
  CHECK_FALSE(decode_batch_header(bytes, place_key(log, 3, 648)));
  CHECK_FALSE(decode_batch_header(bytes, place_key(log, 4, 640)));
  CHECK_FALSE(decode_batch_header(bytes, place_key(LogId{.bytes = {std::byte{1}}}, 3, 640)));
}

TEST_CASE("Format: no changed bit of a record goes unseen", "[store][format]") {
  Bytes bytes;
  const std::string body = "0123456789";
  append_record({.subject = "run-1",
                 .bytes = as_bytes(body),
                 .position = {9},
                 .seq = {3},
                 .time = 77,
                 .state = RunState::open,
                 .local = true},
                {8},
                bytes);
  CHECK(bytes.size() == 56);
  const auto record = decode_record(bytes);
  REQUIRE(record);
  CHECK(record->subject == "run-1");
  CHECK(as_text(record->bytes) == body);
  CHECK(record->position == Position{9});
  CHECK(record->number == 3);
  CHECK(record->time == 77);
  CHECK(record->local);
  for (std::size_t bit = 0; bit < record->length * 8; ++bit) {
    Bytes changed = bytes;
    changed[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
    CHECK_FALSE(decode_record(changed));
  }
  for (std::size_t size = 0; size < record->length; ++size) {
    CHECK_FALSE(decode_record(ByteView(bytes).first(size)));
  }
}

TEST_CASE("Format: names of files", "[store][format]") {
  CHECK(segment_name(42) == "segments/000000000042.seg");
  CHECK(segment_number("000000000042.seg") == 42);
  CHECK_FALSE(segment_number("000000000042.new"));
  CHECK_FALSE(segment_number("000000000000.seg"));
  CHECK_FALSE(segment_number("00000000004x.seg"));
  CHECK_FALSE(segment_number("42.seg"));
}

TEST_CASE("Format: the checkpoint comes back as it was, and never from less", "[store][format]") {
  Checkpoint checkpoint{.trimmed = {7}};
  checkpoint.state.acks = {{.observer = "audit", .acked = {300}},
                           {.observer = "b", .suspended = true}};
  checkpoint.state.observers = {"audit", "b"};
  checkpoint.state.claims = {
      {.subject = "run-1", .holder = {.bytes = {std::byte{9}}}, .epoch = {1 << 20}}};
  const Bytes bytes = encode_checkpoint(checkpoint);
  const auto back = decode_checkpoint(bytes);
  REQUIRE(back);
  CHECK(back->trimmed == checkpoint.trimmed);
  CHECK(back->state.acks == checkpoint.state.acks);
  CHECK(back->state.observers == checkpoint.state.observers);
  CHECK(back->state.claims == checkpoint.state.claims);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    CHECK_FALSE(decode_checkpoint(ByteView(bytes).first(size)));
  }
}

TEST_CASE("Format: packed places and marks come back as they were", "[store][format]") {
  const std::vector<Place> places{{200, 41}, {248, 100}, {1 << 30, 7}};
  const Bytes packed = encode_places(places);
  std::vector<Place> back;
  decode_places(packed, 1, 2, back);
  REQUIRE(back.size() == 2);
  CHECK(back[0].offset == 248);
  CHECK(back[1].offset == 1 << 30);
  CHECK(back[1].bytes == 7);
  const auto marks = decode_marks(encode_marks({{128, {0}}, {70000, {900}}}));
  REQUIRE(marks.size() == 2);
  CHECK(marks[1].offset == 70000);
  CHECK(walk_start(marks, {899}) == 128);
  CHECK(walk_start(marks, {900}) == 70000);
}
