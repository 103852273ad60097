#include "bridge/cli/sabotage.hpp"

#include "codec/wire/event_codec.hpp"

#include <array>
#include <chrono>
#include <deque>
#include <future>
#include <utility>
#include <variant>
#include <vector>

namespace runwire::cli {
namespace {

constexpr std::uint64_t every = 50;  ///< Which position is spoiled.

/// One record that owns what it points to.
struct Owned {
  Record record{};
  std::string subject{};
  Bytes bytes{};

  explicit Owned(const Record& from)
      : record(from), subject(from.subject), bytes(from.bytes.begin(), from.bytes.end()) {}
  [[nodiscard]] Record view() const {
    Record out = record;
    out.subject = subject;
    out.bytes = bytes;
    return out;
  }
};

Event event_of(const Owned& owned) {
  std::size_t offset = 0;
  const auto view = wire::decode_event(owned.bytes, offset);
  return view ? wire::to_event(*view).value_or(Event{}) : Event{};
}

void replace(Owned& owned, const Event& event) {
  Bytes bytes;
  if (wire::encode_event(event, bytes)) owned.bytes = std::move(bytes);
}

class SabotagedStore final : public Store {
 public:
  SabotagedStore(std::unique_ptr<Store> store, Sabotage sabotage)
      : store_(std::move(store)), sabotage_(sabotage) {}

  Status append(std::span<const Record> records) override {
    std::vector<Owned> batch = std::exchange(held_, {});
    for (const Record& record : records)
      batch.emplace_back(record);
    if (sabotage_ == Sabotage::false_receipt && !std::exchange(holding_, !holding_)) {
      held_ = std::move(batch);
      return {};
    }
    for (std::size_t at = 0; at < batch.size(); ++at)
      spoil(batch, at);
    std::vector<Record> views;
    views.reserve(batch.size());
    for (const Owned& owned : batch)
      views.push_back(owned.view());
    return store_->append(views);
  }

  [[nodiscard]] LogId log_id() const override { return store_->log_id(); }
  [[nodiscard]] Term term() const override { return store_->term(); }
  [[nodiscard]] SyncMode sync_mode() const override { return store_->sync_mode(); }
  [[nodiscard]] Position last() const override { return store_->last(); }
  [[nodiscard]] Position earliest() const override { return store_->earliest(); }
  [[nodiscard]] RecoveryReport recovery() const override { return store_->recovery(); }
  [[nodiscard]] ControlState control() const override {
    ControlState state = store_->control();
    if (sabotage_ != Sabotage::skip_ack) return state;
    for (AckInfo& ack : state.acks)
      ack.acked = store_->last();
    return state;
  }
  [[nodiscard]] Result<Page> read_log(Position after,
                                      Position upto,
                                      PageBounds bounds) const override {
    return store_->read_log(after, upto, bounds);
  }
  [[nodiscard]] Result<Page> read_subject(std::string_view subject,
                                          Sequence after,
                                          Position upto,
                                          PageBounds bounds) const override {
    return store_->read_subject(subject, after, upto, bounds);
  }
  [[nodiscard]] Result<std::optional<SubjectInfo>> find_subject(
      std::string_view subject) const override {
    return store_->find_subject(subject);
  }
  [[nodiscard]] Result<std::vector<SubjectInfo>> subjects(std::string_view prefix,
                                                          std::string_view after,
                                                          std::size_t count_max,
                                                          bool open_only) const override {
    return store_->subjects(prefix, after, count_max, open_only);
  }

 private:
  void spoil(std::vector<Owned>& batch, std::size_t at) const {
    Owned& owned = batch[at];
    if (owned.record.kind != RecordKind::event || at == 0) return;
    Owned& before = batch[at - 1];
    const bool neighbours =
        before.record.kind == RecordKind::event && before.subject == owned.subject;
    const bool due = owned.record.position.value % every < 5;
    if (sabotage_ == Sabotage::drop_event && neighbours && due) {
      owned.bytes = before.bytes;
    } else if (sabotage_ == Sabotage::reuse_number && neighbours && due) {
      Event event = event_of(owned);
      if (event.durable) event.durable->seq = before.record.seq;
      replace(owned, event);
    } else if (sabotage_ == Sabotage::second_terminal && neighbours && ended(owned.record.state)) {
      Event event = event_of(before);
      event.type = "run.failed";
      event.data =
          R"({"problem":{"code":"sabotage","message":"put in by a proof","retryable":false}})";
      replace(before, event);
    }
  }

  std::unique_ptr<Store> store_;
  Sabotage sabotage_;
  bool holding_ = false;
  std::vector<Owned> held_{};
};

/// One look: who is attached, and what he has in flight.
wire::ObserversReply observers_of(Engine& engine) {
  auto answered = std::make_shared<std::promise<wire::ObserversReply>>();
  auto reply = answered->get_future();
  engine.submit(wire::Observers{}, {}, [answered](Outcome outcome) {
    auto* rows = std::get_if<wire::ObserversReply>(&outcome.answer);
    answered->set_value(rows == nullptr ? wire::ObserversReply{} : std::move(*rows));
  });
  return reply.get();
}

}  // namespace

std::optional<Sabotage> sabotage_from(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, Sabotage>, 7> names{
      std::pair{std::string_view{}, Sabotage::none},
      {"false_receipt", Sabotage::false_receipt},
      {"drop_event", Sabotage::drop_event},
      {"reuse_number", Sabotage::reuse_number},
      {"early_publish", Sabotage::early_publish},
      {"skip_ack", Sabotage::skip_ack},
      {"second_terminal", Sabotage::second_terminal}};
  for (const auto& [known, sabotage] : names) {
    if (known == name) return sabotage;
  }
  return std::nullopt;
}

std::unique_ptr<Store> sabotaged(std::unique_ptr<Store> store, Sabotage sabotage) {
  if (sabotage == Sabotage::none || sabotage == Sabotage::early_publish) return store;
  return std::make_unique<SabotagedStore>(std::move(store), sabotage);
}

std::jthread early_acker(bus::Server& server, const Store& store) {
  return std::jthread([&engine = server.engine(), log = store.log_id(), term = store.term()](
                          const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      for (const wire::ObserverRow& row : observers_of(engine).observers) {
        if (row.in_flight == 0) continue;
        engine.acknowledge({.observer = row.observer,
                            .log = log,
                            .term = term,
                            .epoch = row.epoch,
                            .position = Position{row.acked.value + row.in_flight}});
      }
    }
  });
}

}  // namespace runwire::cli
