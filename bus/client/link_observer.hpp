#pragma once

#include "bus/client/batch.hpp"
#include "bus/client/delivery_cursor.hpp"
#include "bus/client/link.hpp"
#include "bus/client/observer.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace runwire::client {

/// The Observer that there is. observer.cpp attaches and keeps time; observer_deliveries.cpp takes
/// what is owed and acks it.
class LinkObserver final : public Observer {
 public:
  LinkObserver(const ObserverOptions& options, std::unique_ptr<Link> link)
      : options_(options), link_(std::move(link)), cursor_(options.position), log_(options.log) {
    SystemIds ids;
    instance_ = ids.instance_id();
  }
  ~LinkObserver() override { leave(); }
  LinkObserver(const LinkObserver&) = delete;
  LinkObserver& operator=(const LinkObserver&) = delete;
  LinkObserver(LinkObserver&&) = delete;
  LinkObserver& operator=(LinkObserver&&) = delete;

  /// Attaches for the first time.
  Status begin();

  Result<std::optional<Owed>> next(std::chrono::milliseconds timeout) override;
  Status ack(Position position) override;
  Status refuse(Position position, const std::string& reason) override;
  [[nodiscard]] LogId log() const override { return log_.value_or(LogId{}); }
  [[nodiscard]] Epoch epoch() const override { return attach_.epoch; }
  [[nodiscard]] Position acked() const override { return cursor_.acked(); }
  [[nodiscard]] std::uint64_t repeats_dropped() const override { return cursor_.repeats(); }

 private:
  Status turn(Instant now);  ///< What it finds to hand out is in `ready_`.
  Status check() const;
  Status fail_for_ever(Error error);
  Status ask_attach(Instant now);
  void take_replies(Instant now);
  void on_attach(wire::Reply& reply, Instant now);
  Status connect(Instant now);
  void lose(Instant now);
  Status read_behind(Instant now);
  void on_page(Answered& answered, Instant now);
  Status receive(Instant now);
  Status on_delivery(bus::Message& message, Instant now);
  std::optional<Owed> hand_out(Batch batch, Position prev, Position first, Position last);
  void judge_silence(Instant now);
  bool send(Position position, bool refused, const std::string& reason);
  void send_ack();
  Status wait(Instant until);
  std::optional<Answered> ask(wire::Operation operation, Instant until);
  void settle_acks(Instant until);
  void leave();

  ObserverOptions options_;
  std::unique_ptr<Link> link_;
  DeliveryCursor cursor_;
  std::optional<LogId> log_;
  InstanceId instance_{};
  wire::AttachReply attach_{};
  Term term_{};
  std::optional<std::uint64_t> attaching_{};  ///< The rid of an attach without a reply.
  std::optional<std::uint64_t> reading_{};    ///< The rid of a read without a reply.
  std::optional<bus::Socket> deliver_{};      ///< There while attached, as is `acks_`.
  std::optional<bus::Socket> acks_{};
  std::optional<Error> failure_{};
  std::optional<Error> hindrance_{};  ///< Why the last attach did not come about.
  std::optional<Owed> ready_{};
  Batch current_{};  ///< What the views of the last Owed point into.
  Instant retry_at_{};
  Instant heard_at_{};
};

}  // namespace runwire::client
