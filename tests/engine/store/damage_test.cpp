#include "engine/store/segments/format.hpp"
#include "engine/store/segments/little_endian.hpp"
#include "engine/store/segments/scan.hpp"
#include "tests/engine/store/scribe.hpp"
#include "tests/engine/store/store_bench.hpp"

#include <catch2/catch.hpp>

#include <fstream>
#include <iterator>
#include <memory>
#include <string>

using namespace runwire;
using namespace runwire::segments;
using test::Scribe;
using test::StoreBench;
using Kind = StoreBench::Kind;

namespace {

constexpr std::uint64_t one_file = 1 << 15;

/// A log as a killed process left it: every write is there, the last batch is not proven.
struct Left {
  StoreBench bench;
  Scribe scribe{};
  std::unique_ptr<SimDisk> disk{};
  std::uint64_t segment_bytes_max;

  explicit Left(int events, std::uint64_t segment_max = one_file)
      : bench(Kind::simulated, segment_max), segment_bytes_max(segment_max) {
    auto store = bench.open();
    for (int at = 0; at < events; ++at) {
      REQUIRE(
          scribe.event("run-" + std::to_string(at % 2), std::string(90, 'x') + std::to_string(at))
              .commit(*store));
    }
    disk = bench.disk.clone();
  }

  Result<std::unique_ptr<Store>> open(SimDisk& on) {
    return open_segments_on(on, {.segment_bytes_max = segment_bytes_max}, bench.ids, bench.clock);
  }
  [[nodiscard]] Bytes file(std::uint64_t number = 1) const {
    return *disk->contents(segment_name(number));
  }
  [[nodiscard]] Scan scan() const { return *scan_segment(file(), segment_name(1), std::nullopt); }

  /// Opens a copy with `bytes` for a file; a refusal must be `code` and must have changed nothing.
  Error refusal(Bytes bytes, ErrorCode code, std::uint64_t number = 1) {
    const auto copy = disk->clone();
    copy->set_contents(segment_name(number), std::move(bytes));
    const std::uint64_t before = copy->image_hash();
    auto opened = open(*copy);
    REQUIRE_FALSE(opened);
    CHECK(opened.error().code == code);
    CHECK(copy->image_hash() == before);
    return opened.error();
  }
};

}  // namespace

TEST_CASE("C45 Segments: the last batch cut at each of its bytes is dropped whole and told",
          "[store][damage]") {
  Left left(4);
  const Scan scan = left.scan();
  const ScannedBatch last = scan.batches.back();
  for (std::uint64_t size = last.offset; size < last.end(); ++size) {
    Bytes bytes = left.file();
    bytes.resize(size);
    const auto copy = left.disk->clone();
    copy->set_contents(segment_name(1), bytes);
    auto store = left.open(*copy);
    REQUIRE(store);
    CHECK((*store)->last() == Position{3});
    CHECK((*store)->recovery().tail_bytes_cut <= size - last.offset);
    if (size > last.offset) CHECK((*store)->recovery().tail_bytes_cut > 0);
  }
}

TEST_CASE("C45 Segments: bytes behind the last batch are dropped and told", "[store][damage]") {
  Left left(4);
  Bytes bytes = left.file();
  bytes.resize(left.scan().end + 100);
  for (std::size_t at = bytes.size() - 100; at < bytes.size(); ++at)
    bytes[at] = static_cast<std::byte>(at * 37 + 1);
  left.disk->set_contents(segment_name(1), bytes);
  auto store = left.open(*left.disk);
  REQUIRE(store);
  CHECK((*store)->recovery().tail_bytes_cut == 100);
  CHECK(left.scribe.holds(**store));
}

TEST_CASE("C45 Segments: a changed bit below what was synced stops the open", "[store][damage]") {
  Left left(4);
  const Scan scan = left.scan();
  for (std::uint64_t at = 0; at < scan.batches.back().offset; ++at) {
    Bytes bytes = left.file();
    bytes[at] ^= static_cast<std::byte>(1U << (at % 8));
    const Error error = left.refusal(std::move(bytes), ErrorCode::corrupt);
    CHECK(error.text("file") == segment_name(1));
    if (at < segment_header_bytes) continue;
    const auto offset = error.number("offset").value_or(0);
    CHECK(offset <= at);
    CHECK(at - offset < 300);
    CHECK(error.number("first").value_or(0) >= 1);
    CHECK(error.number("last").value_or(99) <= 4);
  }
}

TEST_CASE("C45 Segments: a page of zeros in the middle stops the open", "[store][damage]") {
  Left left(100);
  Bytes bytes = left.file();
  std::fill_n(bytes.begin() + 8192, 4096, std::byte{0});
  const Error error = left.refusal(std::move(bytes), ErrorCode::corrupt);
  const std::uint64_t first = *error.number("first");
  const std::uint64_t last = *error.number("last");
  CHECK(first > 30);
  CHECK(last >= first + 4096 / 220 - 1);
  CHECK(last < 100);
}

TEST_CASE("C45 Segments: a missing file stops the open, whichever it is", "[store][damage]") {
  Left left(60, 2048);
  REQUIRE(left.disk->list("segments")->size() > 4);
  for (const std::uint64_t number : {std::uint64_t{1}, std::uint64_t{3}}) {
    const auto copy = left.disk->clone();
    REQUIRE(copy->remove(segment_name(number)));
    const std::uint64_t before = copy->image_hash();
    const auto opened = left.open(*copy);
    REQUIRE_FALSE(opened);
    CHECK(opened.error().code == ErrorCode::corrupt);
    CHECK(opened.error().text("file") == segment_name(number));
    if (number == 3) CHECK(copy->image_hash() == before);
  }
}

TEST_CASE("C45 Segments: a changed bit in a sealed file stops an open that scans it",
          "[store][damage]") {
  Left left(60, 2048);
  const std::uint64_t sealed_bytes = left.file(2).size();
  for (std::uint64_t at = 0; at < sealed_bytes - trailer_bytes; at += 5) {
    Bytes bytes = left.file(2);
    bytes[at] ^= std::byte{4};
    CHECK(left.refusal(std::move(bytes), ErrorCode::corrupt, 2).text("file") == segment_name(2));
  }
}

TEST_CASE("C45 Segments: a read that meets damage serves what is before it and names it",
          "[store][damage]") {
  StoreBench bench(Kind::files, 2048);
  auto store = bench.open();
  Scribe scribe;
  for (int at = 0; at < 60; ++at)
    REQUIRE(scribe.event("a", std::string(90, 'x')).commit(*store));
  store.reset();
  // In the events' bytes of the fifth batch: 90 of them stand at its end.
  const auto name = segment_name(2);
  std::fstream file(bench.file(name), std::ios::in | std::ios::out | std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  const std::uint64_t at =
      scan_segment(as_bytes(text), name, std::nullopt)->batches.at(4).end() - 50;
  file.seekp(static_cast<std::streamoff>(at)).put('!');
  file.close();
  store = bench.open();  // The catalogue knows this file: it is not scanned.
  const auto before = store->read_log({}, store->last(), {});
  REQUIRE(before);
  CHECK(before->more);
  REQUIRE_FALSE(before->empty());
  const Position good = before->entries.back().position;
  const auto damage = store->read_log(good, store->last(), {});
  REQUIRE_FALSE(damage);
  CHECK(damage.error().code == ErrorCode::corrupt);
  CHECK(damage.error().text("file") == segment_name(2));
  CHECK(damage.error().number("first") == good.value + 1);
  CHECK(damage.error().number("offset").value_or(at) < at);
  const auto subject = store->read_subject("a", {good.value}, store->last(), {});
  REQUIRE_FALSE(subject);
  CHECK(subject.error().number("seq") == good.value + 1);
  const auto behind = store->read_log({good.value + 1}, store->last(), {});
  REQUIRE(behind);
  CHECK(behind->entries.back().position == store->last());
}

TEST_CASE("C51 Segments: a version that is not known is refused before anything is written",
          "[store][damage]") {
  Left left(4);
  const auto versioned = [&](std::uint16_t version, std::uint16_t reader, bool checked) {
    Bytes bytes = left.file();
    store_number(bytes.data() + 8, version);
    store_number(bytes.data() + 10, reader);
    if (checked) store_number(bytes.data() + 120, checksum(ByteView(bytes).first(120)));
    return bytes;
  };
  left.disk->set_contents("segments/000000000002.new", Bytes(10));
  const Error newer = left.refusal(versioned(2, 2, true), ErrorCode::unsupported);
  CHECK(newer.number("found") == 2);
  CHECK(newer.number("known") == 1);
  CHECK(newer.text("file") == segment_name(1));
  CHECK(left.refusal(versioned(2, 2, false), ErrorCode::corrupt).text("file") == segment_name(1));
  CHECK(left.refusal(versioned(0, 0, true), ErrorCode::corrupt).text("file") == segment_name(1));
  // A newer writer that says an old reader is enough.
  left.disk->set_contents(segment_name(1), versioned(2, 1, true));
  auto opened = left.open(*left.disk);
  REQUIRE(opened);
  CHECK(left.scribe.holds(**opened));
}
