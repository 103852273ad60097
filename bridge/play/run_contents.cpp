#include "bridge/play/run_builder.hpp"
#include "bridge/play/text.hpp"
#include "codec/json/canonical.hpp"

#include <nlohmann/json.hpp>
#include <utility>

namespace runwire::play {
namespace {

std::string_view type_root(Root root) {
  if (root == Root::text) return "text";
  return root == Root::reasoning ? "reasoning" : "tool.input";
}

std::string_view id_field(Root root) {
  if (root == Root::text) return "text_id";
  return root == Root::reasoning ? "reasoning_id" : "call_id";
}

Payload payload_of(Root root, const std::string& identity) {
  Payload payload;
  (root == Root::tool_input ? payload.call_id : payload.content_id) = identity;
  return payload;
}

/// A ledger key is `root:identity`; a content's parent is its operation.
std::string operation_of(const OpenItem& item) {
  return item.parent.substr(item.parent.find(':') + 1);
}

/// The input as the engine will take it, one level down in an event; none where it would refuse it.
std::optional<Json> usable(std::string_view text) {
  const auto canonical = json::canonicalise(text);
  if (!canonical || canonical->size() > Bounds::content_bytes_max) return std::nullopt;
  if (!json::canonicalise("[" + *canonical + "]")) return std::nullopt;
  return Json::parse(*canonical, nullptr, false);
}

}  // namespace

const OpenItem* RunBuilder::open_content(std::string_view key) const {
  const auto found = contents_by_key_.find(key);
  if (found == contents_by_key_.end()) return nullptr;
  return ledger_.open(found->second.root, found->second.id);
}

bool RunBuilder::content_open(std::string_view key) const {
  return open_content(key) != nullptr;
}

std::string_view RunBuilder::content_text(std::string_view key) const {
  const OpenItem* item = open_content(key);
  return item == nullptr ? std::string_view() : std::string_view(item->text);
}

bool RunBuilder::content_known(std::string_view key) const {
  return contents_by_key_.contains(key);
}

void RunBuilder::open_new_content(Root root,
                                  std::string_view key,
                                  std::string id,
                                  std::string_view name) {
  Payload payload = payload_of(root, id);
  payload.operation_id = operation_id();
  payload.name = name;
  Json data = {{"operation_id", operation_id()}, {id_field(root), id}};
  if (root == Root::tool_input) data["name"] = name;
  contents_by_key_.insert_or_assign(std::string(key), Content{root, std::move(id)});
  emit(std::string(type_root(root)) + ".started", std::move(data), std::move(payload));
}

void RunBuilder::delta(Root root, std::string_view key, std::string_view text) {
  if (text.empty() || !operation_open_ || !room()) return;
  const OpenItem* item = open_content(key);
  if (item != nullptr && item->root != root) {
    end_content(key);
    item = nullptr;
  }
  if (item == nullptr) {
    if (ledger_.open_under(Root::model, operation_id()).size() >= Bounds::open_contents_max) {
      return abort({.code = std::string(recording_too_large), .message = "too many open contents"});
    }
    const std::string base = operation_id() + "." + std::string(type_root(root)) + "-";
    open_new_content(root, key, base + std::to_string(++contents_), {});
  }
  append_text(key, text);
}

void RunBuilder::append_text(std::string_view key, std::string_view text) {
  while (!text.empty() && room()) {
    const OpenItem* item = open_content(key);
    if (item == nullptr) return;
    const std::string_view piece = clip(text, Bounds::delta_bytes_max);
    if (item->escaped_bytes + escaped_bytes(piece) > Bounds::content_bytes_max) {
      return abort({.code = std::string(recording_too_large),
                    .message = "a text is over its bound: it would not fit into one event"});
    }
    text.remove_prefix(piece.size());
    Payload payload = payload_of(item->root, item->identity);
    payload.index = item->deltas;
    Json data = {{id_field(item->root), item->identity}, {"index", item->deltas}, {"delta", piece}};
    emit(std::string(type_root(item->root)) + ".delta", std::move(data), std::move(payload), piece);
  }
}

void RunBuilder::end_content(std::string_view key, std::optional<std::string_view> full) {
  const OpenItem* item = open_content(key);
  if (item == nullptr || !room()) return;
  if (full) {
    if (!full->starts_with(item->text)) {
      return abort({.code = std::string(stream_invalid),
                    .message = "a full value that its deltas do not make"});
    }
    append_text(key, full->substr(item->text.size()));
    item = open_content(key);
    if (item == nullptr) return;
  }
  close(OpenItem(*item), nullptr, true);
}

void RunBuilder::end_text(const OpenItem& item) {
  Payload payload = payload_of(item.root, item.identity);
  payload.operation_id = operation_of(item);
  payload.deltas = item.deltas;
  Json data = {{"operation_id", payload.operation_id},
               {id_field(item.root), item.identity},
               {"text", item.text},
               {"deltas", item.deltas}};
  emit(
      std::string(type_root(item.root)) + ".ended", std::move(data), std::move(payload), item.text);
}

void RunBuilder::start_input(std::string_view key,
                             std::string_view call_id,
                             std::string_view name) {
  if (!operation_open_ || !room()) return;
  if (content_open(key)) end_content(key);
  if (ledger_.open_under(Root::model, operation_id()).size() >= Bounds::open_contents_max) {
    return abort({.code = std::string(recording_too_large), .message = "too many open contents"});
  }
  const std::string fallback = operation_id() + ".call-" + std::to_string(++contents_);
  const std::string id = fresh_id(Root::tool_input, call_id, fallback);
  const std::string called(blank(name) ? "unknown" : clip(name, Bounds::name_bytes_max));
  calls_.insert_or_assign(std::string(call_id.empty() ? id : call_id), Call{id, called});
  open_new_content(Root::tool_input, key, id, called);
}

void RunBuilder::input_delta(std::string_view key, std::string_view text) {
  if (operation_open_ && content_open(key)) append_text(key, text);
}

void RunBuilder::end_input(std::string_view key,
                           std::optional<std::string_view> full,
                           const Json* value) {
  const OpenItem* item = open_content(key);
  if (item == nullptr || item->root != Root::tool_input || !room()) return;
  if (full && !full->starts_with(item->text)) {
    return abort({.code = std::string(stream_invalid),
                  .message = "the input of a tool call that its deltas do not make"});
  }
  if (full) append_text(key, full->substr(item->text.size()));
  item = open_content(key);
  if (item != nullptr) end_tool_input(OpenItem(*item), value, true);
}

void RunBuilder::end_tool_input(const OpenItem& item, const Json* value, bool finished) {
  Payload payload = payload_of(item.root, item.identity);
  payload.operation_id = operation_of(item);
  payload.deltas = item.deltas;
  payload.name = item.name;
  Json data = {{"operation_id", payload.operation_id},
               {"call_id", item.identity},
               {"name", item.name},
               {"deltas", item.deltas}};
  const bool empty = blank(item.text) && finished;
  auto input = usable(value != nullptr ? dump(*value) : empty ? "{}" : item.text);
  if (input) {
    data["input"] = std::move(*input);
  } else {
    data["invalid"] = item.text;
  }
  emit("tool.input.ended", std::move(data), std::move(payload));
}

std::string RunBuilder::fresh_id(Root root, std::string_view wanted, const std::string& fallback) {
  constexpr std::size_t suffix_bytes_max = 20;
  constexpr std::size_t bytes_max = limits::identity_bytes_max;
  std::string base(blank(wanted) ? std::string_view(fallback) : wanted);
  const bool kept = base.size() <= bytes_max;
  if (!kept) base = clip(base, bytes_max - suffix_bytes_max);
  const auto taken = [&](const std::string& id) {
    return ledger_.used(root, id) || ledger_.used(Root::tool, id);
  };
  std::string id = base;
  while (taken(id)) {
    id = std::string(clip(base, bytes_max - suffix_bytes_max)) + "-" +
         std::to_string(++repeats_[base] + 1);
  }
  return id;
}

}  // namespace runwire::play
