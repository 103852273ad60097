#pragma once

#include "bus/client/appender.hpp"
#include "codec/base/clock.hpp"

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

namespace runwire::client {

/// One append that was asked for, until it is answered.
struct Submission {
  wire::Append request{};
  Instant deadline{};
  std::move_only_function<void(Result<Appended>)> done{};
  wire::AppendReply reply{};  ///< What was taken of it so far.
};

/// The appends to one subject, in the order in which they were asked for. One request is under way
/// at a time, so that nothing overtakes what has to be sent again; it takes as many submissions
/// together as fit the bounds of a request, and a part of one that does not fit.
///
/// What stands behind a refused append was asked for without knowing of the refusal and is answered
/// `out_of_order`, up to the first one that says `go_on`; what is asked for later goes on by
/// itself. Passive: knows neither sockets nor time. Owner: one thread. Bound: the appender's
/// in_flight_max.
class AppendLane {
 public:
  struct Finished {
    Submission submission{};
    Result<Appended> result{};
  };

  void add(Submission submission) { queue_.push_back(std::move(submission)); }
  [[nodiscard]] bool empty() const { return queue_.empty(); }
  /// It has a memory that the next append needs.
  [[nodiscard]] bool goes_on() const { return go_on_; }
  /// Something waits and no request is under way.
  [[nodiscard]] bool waits() const { return flying_ == 0 && !queue_.empty(); }
  /// When what waits may be sent.
  [[nodiscard]] Instant due() const { return retry_at_; }
  /// The next request, under the claim's epoch. Pre: waits().
  [[nodiscard]] wire::Append make_request(std::optional<Epoch> epoch);
  /// When the request just made is to be given up.
  [[nodiscard]] Instant deadline() const { return queue_.front().deadline; }
  /// The reply to it. `reclaim`: whether a claim that this client holds is being taken again, asked
  /// only after `not_owner`.
  void answered(wire::Reply reply,
                Instant now,
                const std::function<bool()>& reclaim,
                std::vector<Finished>& finished);

 private:
  struct Verdict {
    std::size_t taken = 0;
    std::optional<Error> error{};
    bool late = false;  ///< Everything was taken; the error says what came afterwards.
  };
  [[nodiscard]] Verdict judge(wire::Reply& reply, std::size_t sent) const;
  void take(const wire::AppendReply& reply,
            const Verdict& verdict,
            std::vector<Finished>& finished);
  [[nodiscard]] bool may_retry(const Verdict& verdict,
                               Instant now,
                               const std::function<bool()>& reclaim);
  void refuse(const Error& error, std::vector<Finished>& finished);
  void finish_front(Result<Appended> result, std::vector<Finished>& finished);

  std::deque<Submission> queue_{};
  std::size_t flying_ = 0;  ///< Events of the request under way; 0: none is.
  bool go_on_ = false;      ///< An append failed, and whoever asked for it has been told.
  bool again_ = false;      ///< What is at the front may have been taken already.
  bool reclaimed_ = false;  ///< The claim was taken again for the request under way.
  Instant retry_at_{};
  std::chrono::milliseconds pause_{};
};

}  // namespace runwire::client
