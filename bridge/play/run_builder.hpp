#pragma once

#include "bridge/play/json.hpp"
#include "bridge/play/problem.hpp"
#include "bridge/play/recording.hpp"
#include "bridge/play/run_ledger.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace runwire::play {

/// Makes the events of one run from what an adapter has understood, and owns every rule about their
/// order: an adapter says what happened, opens what it likes and forgets to close it, and the run
/// is legal all the same. Identities are made here; a provider's are kept where they are usable.
///
/// Owner: one thread. Bounds: Options::steps_max and `Bounds`; over one of them the run is closed
/// as failed. Errors: none are returned. After abort() the run has ended and every call is ignored.
class RunBuilder {
 public:
  explicit RunBuilder(const Options& options) : options_(options) {}

  /// The line that what follows was read from: problems name it.
  void at_line(std::size_t number) { line_ = number; }
  [[nodiscard]] bool ended() const { return ledger_.run_ended(); }

  // ---- Model operations. One is open at a time.

  /// Opens the run and a turn where there is none. After a completed operation a new turn begins;
  /// after a failed one the same turn goes on with the next attempt.
  void start_operation(std::string_view model);
  [[nodiscard]] bool operation_open() const { return operation_open_; }
  [[nodiscard]] bool operation_streamed() const;
  [[nodiscard]] std::uint64_t operations() const { return operations_; }
  void complete_operation(std::string_view finish, const Json& usage);
  void fail_operation(const Problem& problem);
  /// An error that the provider reports: fails the open operation, which may be tried again; the
  /// run where none is open. One after another error says nothing new.
  void stream_error(const Problem& problem);
  /// Did the last operation fail, with none started since?
  [[nodiscard]] bool operation_failed() const { return failed_.has_value(); }
  /// The turn's unanswered interactions are cancelled, its open tools failed.
  void complete_turn();

  // ---- Contents of the open operation. `key` is the adapter's name for one of them; a key may be
  // used again after its content has ended. Without an open operation nothing happens.

  /// Text or reasoning; starts with its first delta that is not empty.
  void delta(Root root, std::string_view key, std::string_view text);
  /// `full` may go on where the deltas stopped; if it contradicts them, the run is aborted.
  void end_content(std::string_view key, std::optional<std::string_view> full = std::nullopt);
  void start_input(std::string_view key, std::string_view call_id, std::string_view name);
  /// With `value`, that is the input; else the text is, as JSON, `{}` where it is blank.
  void end_input(std::string_view key, std::optional<std::string_view> full, const Json* value);
  void input_delta(std::string_view key, std::string_view text);
  [[nodiscard]] bool content_open(std::string_view key) const;
  /// The deltas so far; empty where it is not open. Valid until the next call.
  [[nodiscard]] std::string_view content_text(std::string_view key) const;
  /// Was the key ever used in this operation?
  [[nodiscard]] bool content_known(std::string_view key) const;

  // ---- Tools and interactions of the open turn. `call_id` is the provider's.

  /// Runs the call that was last made with this id, or an unknown one by the name given.
  void start_tool(std::string_view call_id, std::string_view name);
  void tool_progress(std::string_view call_id, std::string_view output);
  void complete_tool(std::string_view call_id, const Json& output);
  void fail_tool(std::string_view call_id, const Problem& problem);
  void ask(std::string_view interaction_id, std::string_view kind, std::string_view prompt);

  // ---- Our own format: an event as it is. On a refusal nothing has happened.
  [[nodiscard]] Status admit(std::string_view type,
                             const Json& data,
                             bool durable,
                             std::chrono::microseconds after);

  // ---- The end.

  /// Closes all that is open, innermost first, and fails the run with `problem`.
  void abort(Problem problem);
  /// The same for what breaks a model's stream: that was an operation, even if its start was
  /// broken.
  void abort_stream(Problem problem);
  /// Completes the run, or fails it: an operation that is still open makes it incomplete.
  [[nodiscard]] std::vector<Step> finish() &&;

 private:
  struct Content {
    Root root = Root::text;
    std::string id{};
  };
  struct Call {
    std::string id{};
    std::string name{};
    bool executed = false;
  };
  void emit(std::string_view type, Json data, Payload payload, std::string_view text = {});
  void push(std::string_view type, std::string data, bool durable, std::chrono::microseconds after);
  [[nodiscard]] bool room();
  void start_run(const Json* recorded);
  void start_turn();
  [[nodiscard]] std::string operation_id() const { return "op-" + std::to_string(operations_); }
  [[nodiscard]] const OpenItem* open_content(std::string_view key) const;
  void open_new_content(Root root, std::string_view key, std::string id, std::string_view name);
  void append_text(std::string_view key, std::string_view text);
  void end_text(const OpenItem& item);
  /// An input that is not `finished` is kept as raw text where it is not JSON, even a blank one.
  void end_tool_input(const OpenItem& item, const Json* value, bool finished);
  [[nodiscard]] std::string fresh_id(Root root,
                                     std::string_view wanted,
                                     const std::string& fallback);
  [[nodiscard]] const Call* running(std::string_view call_id) const;
  /// No `problem`: as cancelled.
  void close(const OpenItem& item, const Problem* problem, bool finished);
  void close_under(Root root, std::string_view identity, const Problem* problem, bool finished);

  Options options_;
  RunLedger ledger_{};
  std::vector<Step> steps_{};
  std::size_t line_ = 0;
  std::uint64_t turn_ = 0;  ///< The newest; 0: none yet.
  std::uint64_t operations_ = 0;
  std::uint64_t attempt_ = 0;   ///< Of the turn.
  std::uint64_t contents_ = 0;  ///< Of the operation, for ids.
  bool turn_open_ = false;
  bool operation_open_ = false;
  std::optional<Problem> failed_{};  ///< How the turn's last operation ended.
  std::map<std::string, Content, std::less<>> contents_by_key_{};
  std::map<std::string, Call, std::less<>> calls_{};  ///< By the provider's id: the newest.
  std::map<std::string, std::uint64_t> repeats_{};    ///< Of an identity that was wanted again.
};

}  // namespace runwire::play
