#include "engine/store/segments/control.hpp"

#include "engine/store/segments/varint.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace runwire::segments {
namespace {

AckInfo& ack_of(ControlState& state, std::string_view observer) {
  const auto found = std::ranges::find(state.acks, observer, &AckInfo::observer);
  if (found != state.acks.end()) return *found;
  return state.acks.emplace_back(AckInfo{.observer = std::string(observer)});
}

std::vector<std::string> lines(std::string_view text) {
  std::vector<std::string> result;
  for (std::size_t end = 0; (end = text.find('\n')) != std::string_view::npos;) {
    result.emplace_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  return result;
}

void apply_skip(const RecordView& record, AckInfo& ack) {
  ack.acked = std::max(ack.acked, Position{record.number});
  ++ack.skipped;
}

void apply_claim(const RecordView& record, ControlState& state) {
  std::erase_if(state.claims,
                [&](const ClaimInfo& claim) { return claim.subject == record.subject; });
  if (record.bytes.size() != sizeof(InstanceId::bytes)) return;  // Released.
  ClaimInfo claim{.subject = std::string(record.subject), .epoch = {record.number}};
  std::ranges::copy(record.bytes, claim.holder.bytes.begin());
  state.claims.push_back(std::move(claim));
}

}  // namespace

void apply(const RecordView& record, Checkpoint& checkpoint) {
  ControlState& state = checkpoint.state;
  switch (record.kind) {
    case RecordKind::event:
    case RecordKind::term:
    case RecordKind::owner:
      return;
    case RecordKind::ack:
      ack_of(state, record.subject).acked = {record.number};
      return;
    case RecordKind::suspend:
      ack_of(state, record.subject).suspended = record.number != 0;
      return;
    case RecordKind::skip:
      apply_skip(record, ack_of(state, record.subject));
      return;
    case RecordKind::gate:
      ack_of(state, record.subject).gates_from = {record.number};
      return;
    case RecordKind::claim:
      apply_claim(record, state);
      return;
    case RecordKind::observers:
      state.observers = lines(as_text(record.bytes));
      return;
    case RecordKind::trim:
      checkpoint.trimmed = std::max(checkpoint.trimmed, Position{record.number});
      return;
  }
}

Bytes encode_checkpoint(const Checkpoint& checkpoint) {
  Bytes bytes;
  const ControlState& state = checkpoint.state;
  put_varint(bytes, checkpoint.trimmed.value);
  put_varint(bytes, state.acks.size());
  for (const AckInfo& ack : state.acks) {
    put_text(bytes, ack.observer);
    put_varint(bytes, ack.acked.value);
    put_varint(bytes, ack.suspended ? 1 : 0);
    put_varint(bytes, ack.gates_from.value);
    put_varint(bytes, ack.skipped);
  }
  put_varint(bytes, state.observers.size());
  for (const std::string& name : state.observers)
    put_text(bytes, name);
  put_varint(bytes, state.claims.size());
  for (const ClaimInfo& claim : state.claims) {
    put_text(bytes, claim.subject);
    put_text(bytes, as_text(claim.holder.view()));
    put_varint(bytes, claim.epoch.value);
  }
  return bytes;
}

std::optional<Checkpoint> decode_checkpoint(ByteView bytes) {
  VarintReader reader(bytes);
  Checkpoint checkpoint{.trimmed = {reader.number()}};
  ControlState& state = checkpoint.state;
  for (auto left = reader.number(); left > 0 && reader.good(); --left) {
    AckInfo ack{.observer = std::string(reader.text())};
    ack.acked = {reader.number()};
    ack.suspended = reader.number() != 0;
    ack.gates_from = {reader.number()};
    ack.skipped = reader.number();
    state.acks.push_back(std::move(ack));
  }
  for (auto left = reader.number(); left > 0 && reader.good(); --left) {
    state.observers.emplace_back(reader.text());
  }
  for (auto left = reader.number(); left > 0 && reader.good(); --left) {
    ClaimInfo claim{.subject = std::string(reader.text())};
    const std::string_view holder = reader.text();
    if (holder.size() != claim.holder.bytes.size()) return std::nullopt;
    std::ranges::copy(as_bytes(holder), claim.holder.bytes.begin());
    claim.epoch = {reader.number()};
    state.claims.push_back(std::move(claim));
  }
  if (!reader.good() || !reader.done()) return std::nullopt;
  return checkpoint;
}

}  // namespace runwire::segments
