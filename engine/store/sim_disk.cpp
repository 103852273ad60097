#include "engine/store/sim_disk.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <utility>

namespace runwire {
namespace {

constexpr std::size_t sector = 512;

/// A write or a change of size that no sync has covered. Doubted ones (after a failed sync) stay
/// here for ever: only a crash decides.
struct Unsynced {
  std::uint64_t offset = 0;
  Bytes bytes{};
  std::optional<std::uint64_t> size{};
  bool doubted = false;
};

struct Node {
  Bytes now{};     ///< What reads see.
  Bytes synced{};  ///< What is sure to be there after a crash.
  std::vector<Unsynced> unsynced{};
};

void put(Bytes& image, std::uint64_t offset, ByteView bytes) {
  if (bytes.empty()) return;
  if (image.size() < offset + bytes.size()) image.resize(offset + bytes.size());
  std::ranges::copy(bytes, image.begin() + static_cast<std::ptrdiff_t>(offset));
}

/// What is left of doubted changes where a later write did reach the disk: the newer bytes stay.
std::vector<Unsynced> clipped(const Unsynced& doubted, std::uint64_t start, std::uint64_t end) {
  const std::uint64_t last = doubted.offset + doubted.bytes.size();
  if (doubted.size || last <= start || end <= doubted.offset) return {doubted};
  std::vector<Unsynced> left;
  const ByteView bytes(doubted.bytes);
  if (doubted.offset < start) {
    const ByteView head = bytes.first(start - doubted.offset);
    left.push_back({.offset = doubted.offset, .bytes = Bytes(head.begin(), head.end()), .doubted = true});
  }
  if (last > end) {
    const ByteView rest = bytes.last(last - end);
    left.push_back({.offset = end, .bytes = Bytes(rest.begin(), rest.end()), .doubted = true});
  }
  return left;
}

/// One change reaches the disk for good.
void settle(Node& node, const Unsynced& change, std::vector<Unsynced>& doubted) {
  if (change.size) node.synced.resize(*change.size);
  put(node.synced, change.offset, change.bytes);
  const std::uint64_t end =
      change.size ? ~std::uint64_t{0} : change.offset + change.bytes.size();
  std::vector<Unsynced> left;
  for (const Unsynced& old : doubted) {
    if (change.size && old.size) continue;
    for (Unsynced& piece : clipped(old, change.size.value_or(change.offset), end)) {
      left.push_back(std::move(piece));
    }
  }
  doubted = std::move(left);
}

using Names = std::map<std::string, std::shared_ptr<Node>, std::less<>>;

/// One change of names; an empty `to` is a removal, an empty `from` a creation.
struct Renaming {
  std::string from{};
  std::string to{};
  std::shared_ptr<Node> node{};
};

void take_up(Names& names, const Renaming& change) {
  if (!change.from.empty()) names.erase(change.from);
  if (!change.to.empty()) names[change.to] = change.node;
}

std::uint64_t mix(std::uint64_t hash, ByteView bytes) {
  for (const std::byte byte : bytes) {
    hash = (hash ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001b3U;
  }
  return (hash ^ bytes.size()) * 0x100000001b3U;
}

std::unexpected<Error> failed(ErrorCode code, std::string_view call, std::string_view file) {
  return fail(Error{code, "simulated: " + std::string(call) + " of " + std::string(file), {}}
                  .with("file", file)
                  .with("call", call));
}

}  // namespace

struct SimDisk::State {
  explicit State(std::uint64_t seed) : random(seed) {}

  mutable std::mutex mutex{};
  std::mt19937_64 random;
  Names names{};
  Names synced_names{};
  std::vector<Renaming> renamings{};  ///< Since the last sync of the folder.
  std::set<std::string, std::less<>> directories{};
  std::set<std::string, std::less<>> locks{};
  std::uint64_t life = 1;  ///< Grows at a crash; files of an older one are dead.
  std::uint64_t calls = 0;
  std::uint64_t fail_at = 0;
  Fault fault = Fault::io;
  bool met = false;
  bool dark = false;
  bool fail_sync = false;
  std::optional<std::uint64_t> room{};

  /// Counts one call and says which fault it meets.
  std::optional<Fault> next_call() {
    ++calls;
    if (dark) return Fault::power;
    if (fail_at == 0 || calls != fail_at) return std::nullopt;
    met = true;
    dark = fault == Fault::power;
    return fault;
  }

  /// The same for calls that either work or do nothing.
  Status plain_call(std::string_view call, std::string_view file, bool can_fill) {
    const auto met_fault = next_call();
    if (!met_fault) return {};
    const bool full = *met_fault == Fault::full && can_fill;
    return failed(full ? ErrorCode::store_full : ErrorCode::store_failed, call, file);
  }

  void change(Renaming renaming) {
    take_up(names, renaming);
    renamings.push_back(std::move(renaming));
  }

  bool chance(unsigned in) { return random() % in == 0; }
};

class SimDisk::File final : public DiskFile {
 public:
  File(std::shared_ptr<State> state, std::shared_ptr<Node> node, std::string name)
      : state_(std::move(state)), node_(std::move(node)), name_(std::move(name)), life_(state_->life) {}

  Status write(std::uint64_t offset, ByteView bytes) override {
    const std::scoped_lock lock(state_->mutex);
    if (life_ != state_->life) return failed(ErrorCode::store_failed, "pwrite", name_);
    const auto fault = state_->next_call();
    if (!fault && room_for(offset + bytes.size())) {
      take(offset, bytes);
      return {};
    }
    // A write that fails may have taken any part of its bytes from the front.
    take(offset, bytes.first(state_->random() % (bytes.size() + 1)));
    const bool full = !fault || *fault == Fault::full;
    return failed(full ? ErrorCode::store_full : ErrorCode::store_failed, "pwrite", name_);
  }

  Status sync() override {
    const std::scoped_lock lock(state_->mutex);
    if (life_ != state_->life) return failed(ErrorCode::store_failed, "fdatasync", name_);
    const auto fault = state_->next_call();
    if (fault || std::exchange(state_->fail_sync, false)) {
      for (Unsynced& change : node_->unsynced) change.doubted = true;
      return failed(ErrorCode::store_failed, "fdatasync", name_);
    }
    std::vector<Unsynced> doubted;
    for (Unsynced& change : node_->unsynced) {
      if (change.doubted) {
        doubted.push_back(std::move(change));
      } else {
        settle(*node_, change, doubted);
      }
    }
    node_->unsynced = std::move(doubted);
    return {};
  }

  Result<std::size_t> read(std::uint64_t offset, std::span<std::byte> into) const override {
    const std::scoped_lock lock(state_->mutex);
    if (life_ != state_->life || state_->next_call()) {
      return failed(ErrorCode::store_failed, "pread", name_);
    }
    const Bytes& bytes = node_->now;
    if (offset >= bytes.size()) return std::size_t{0};
    const std::size_t count = std::min<std::size_t>(into.size(), bytes.size() - offset);
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(offset), count, into.begin());
    return count;
  }

  [[nodiscard]] Result<std::uint64_t> size() const override {
    const std::scoped_lock lock(state_->mutex);
    if (life_ != state_->life || state_->next_call()) {
      return failed(ErrorCode::store_failed, "fstat", name_);
    }
    return node_->now.size();
  }

  Status resize(std::uint64_t bytes) override {
    const std::scoped_lock lock(state_->mutex);
    if (life_ != state_->life) return failed(ErrorCode::store_failed, "ftruncate", name_);
    if (auto status = state_->plain_call("ftruncate", name_, true); !status) return status;
    node_->now.resize(bytes);
    node_->unsynced.push_back({.size = bytes});
    return {};
  }

  Status reserve(std::uint64_t bytes) override {
    const std::scoped_lock lock(state_->mutex);
    if (life_ != state_->life) return failed(ErrorCode::store_failed, "fallocate", name_);
    if (auto status = state_->plain_call("fallocate", name_, true); !status) return status;
    if (!room_for(bytes)) return failed(ErrorCode::store_full, "fallocate", name_);
    return {};
  }

 private:
  [[nodiscard]] bool room_for(std::uint64_t size) {
    if (!state_->room || size <= node_->now.size()) return true;
    return size - node_->now.size() <= *state_->room;
  }

  void take(std::uint64_t offset, ByteView bytes) {
    if (bytes.empty()) return;
    if (state_->room && offset + bytes.size() > node_->now.size()) {
      const std::uint64_t growth = offset + bytes.size() - node_->now.size();
      const std::uint64_t room = std::min(growth, *state_->room);
      state_->room = *state_->room - room;
      if (room < growth) bytes = bytes.first(bytes.size() - std::min(growth - room, bytes.size()));
      if (bytes.empty()) return;
    }
    put(node_->now, offset, bytes);
    node_->unsynced.push_back({.offset = offset, .bytes = Bytes(bytes.begin(), bytes.end())});
  }

  std::shared_ptr<State> state_;
  std::shared_ptr<Node> node_;
  std::string name_;
  std::uint64_t life_;
};

class SimDisk::SimLock final : public Disk::Lock {
 public:
  SimLock(std::shared_ptr<State> state, std::string name)
      : state_(std::move(state)), name_(std::move(name)), life_(state_->life) {}
  ~SimLock() override {
    const std::scoped_lock lock(state_->mutex);
    if (life_ == state_->life) state_->locks.erase(name_);
  }
  SimLock(const SimLock&) = delete;
  SimLock& operator=(const SimLock&) = delete;

 private:
  std::shared_ptr<State> state_;
  std::string name_;
  std::uint64_t life_;
};

SimDisk::SimDisk(std::uint64_t seed) : state_(std::make_shared<State>(seed)) {}
SimDisk::SimDisk(std::shared_ptr<State> state) : state_(std::move(state)) {}
SimDisk::~SimDisk() = default;

void SimDisk::fail_call(std::uint64_t call, Fault fault) {
  const std::scoped_lock lock(state_->mutex);
  state_->fail_at = state_->calls + call;
  state_->fault = fault;
  state_->met = false;
}

void SimDisk::fail_next_sync() {
  const std::scoped_lock lock(state_->mutex);
  state_->fail_sync = true;
}

void SimDisk::set_room(std::optional<std::uint64_t> bytes) {
  const std::scoped_lock lock(state_->mutex);
  state_->room = bytes;
}

namespace {

/// What of one unsynced change is there after the power came back.
void survive(Bytes& image, const Unsynced& change, std::mt19937_64& random) {
  const std::uint64_t fate = random() % 4;
  if (fate == 0) return;
  if (change.size) {
    image.resize(*change.size);
    return;
  }
  for (std::size_t at = 0; at < change.bytes.size();) {
    const std::uint64_t place = change.offset + at;
    const std::size_t piece =
        std::min<std::size_t>(sector - place % sector, change.bytes.size() - at);
    if (fate == 1 || random() % 2 == 0) put(image, place, ByteView(change.bytes).subspan(at, piece));
    at += piece;
  }
}

}  // namespace

void SimDisk::crash(std::uint64_t seed) {
  const std::scoped_lock lock(state_->mutex);
  std::mt19937_64 random(seed);
  const std::size_t kept = random() % (state_->renamings.size() + 1);
  for (std::size_t at = 0; at < kept; ++at) take_up(state_->synced_names, state_->renamings[at]);
  state_->renamings.clear();
  state_->names = state_->synced_names;
  const std::uint64_t mood = random() % 4;  // A whole crash may lose or keep everything.
  std::set<Node*> seen;
  for (auto& [name, node] : state_->names) {
    if (!seen.insert(node.get()).second) continue;
    Bytes image = mood == 1 ? node->now : node->synced;
    for (const Unsynced& change : node->unsynced) {
      if (mood > 1) survive(image, change, random);
    }
    // A new node: files that are still open keep the old one and are dead anyway.
    node = std::make_shared<Node>(Node{.now = image, .synced = image});
  }
  state_->synced_names = state_->names;
  state_->locks.clear();
  state_->dark = false;
  state_->fail_sync = false;
  state_->fail_at = 0;
  state_->room.reset();
  ++state_->life;
}

std::unique_ptr<SimDisk> SimDisk::clone() const {
  const std::scoped_lock lock(state_->mutex);
  auto copy = std::make_shared<State>(0);
  copy->random = state_->random;
  copy->directories = state_->directories;
  std::map<const Node*, std::shared_ptr<Node>> twins;
  const auto twin = [&twins](const std::shared_ptr<Node>& node) {
    auto& made = twins[node.get()];
    if (made == nullptr) made = std::make_shared<Node>(*node);
    return made;
  };
  for (const auto& [name, node] : state_->names) copy->names[name] = twin(node);
  for (const auto& [name, node] : state_->synced_names) copy->synced_names[name] = twin(node);
  for (Renaming change : state_->renamings) {
    if (change.node != nullptr) change.node = twin(change.node);
    copy->renamings.push_back(std::move(change));
  }
  return std::unique_ptr<SimDisk>(new SimDisk(std::move(copy)));
}

std::uint64_t SimDisk::image_hash() const {
  const std::scoped_lock lock(state_->mutex);
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const auto& [name, node] : state_->names) hash = mix(mix(hash, as_bytes(name)), node->now);
  return hash;
}

std::uint64_t SimDisk::calls() const {
  const std::scoped_lock lock(state_->mutex);
  return state_->calls;
}

bool SimDisk::fault_met() const {
  const std::scoped_lock lock(state_->mutex);
  return state_->met;
}

std::optional<Bytes> SimDisk::contents(std::string_view name) const {
  const std::scoped_lock lock(state_->mutex);
  const auto found = state_->names.find(name);
  if (found == state_->names.end()) return std::nullopt;
  return found->second->now;
}

void SimDisk::set_contents(std::string_view name, Bytes bytes) {
  const std::scoped_lock lock(state_->mutex);
  const auto node = std::make_shared<Node>(Node{.now = bytes, .synced = bytes});
  state_->names[std::string(name)] = node;
  state_->synced_names[std::string(name)] = node;
}

Status SimDisk::make_directory(std::string_view name) {
  const std::scoped_lock lock(state_->mutex);
  if (auto status = state_->plain_call("mkdir", name, true); !status) return status;
  state_->directories.insert(std::string(name));
  return {};
}

Result<std::unique_ptr<DiskFile>> SimDisk::create(std::string_view name) {
  const std::scoped_lock lock(state_->mutex);
  if (auto status = state_->plain_call("open", name, true); !status) return fail(status.error());
  if (state_->names.contains(name)) return failed(ErrorCode::store_failed, "open", name);
  const auto node = std::make_shared<Node>();
  state_->change({.from = {}, .to = std::string(name), .node = node});
  return std::make_unique<File>(state_, node, std::string(name));
}

Result<std::unique_ptr<DiskFile>> SimDisk::open(std::string_view name, bool /*writable*/) {
  const std::scoped_lock lock(state_->mutex);
  if (auto status = state_->plain_call("open", name, false); !status) return fail(status.error());
  const auto found = state_->names.find(name);
  if (found == state_->names.end()) return failed(ErrorCode::not_found, "open", name);
  return std::make_unique<File>(state_, found->second, std::string(name));
}

Result<std::vector<std::string>> SimDisk::list(std::string_view directory) const {
  const std::scoped_lock lock(state_->mutex);
  if (auto status = state_->plain_call("readdir", directory, false); !status) {
    return fail(status.error());
  }
  const std::string start = directory.empty() ? std::string() : std::string(directory) + "/";
  std::vector<std::string> names;
  for (const auto& [name, node] : state_->names) {
    if (name.starts_with(start)) names.push_back(name.substr(start.size()));
  }
  return names;
}

Status SimDisk::remove(std::string_view name) {
  const std::scoped_lock lock(state_->mutex);
  if (auto status = state_->plain_call("unlink", name, false); !status) return status;
  if (!state_->names.contains(name)) return failed(ErrorCode::store_failed, "unlink", name);
  state_->change({.from = std::string(name), .to = {}, .node = nullptr});
  return {};
}

Status SimDisk::rename(std::string_view from, std::string_view to) {
  const std::scoped_lock lock(state_->mutex);
  if (auto status = state_->plain_call("rename", from, true); !status) return status;
  const auto found = state_->names.find(from);
  if (found == state_->names.end()) return failed(ErrorCode::store_failed, "rename", from);
  state_->change({.from = std::string(from), .to = std::string(to), .node = found->second});
  return {};
}

Status SimDisk::sync_directory(std::string_view name) {
  const std::scoped_lock lock(state_->mutex);
  if (auto status = state_->plain_call("fsync", name, false); !status) return status;
  state_->synced_names = state_->names;
  state_->renamings.clear();
  return {};
}

Result<std::unique_ptr<Disk::Lock>> SimDisk::lock(std::string_view name) {
  const std::scoped_lock lock(state_->mutex);
  if (auto status = state_->plain_call("fcntl", name, true); !status) return fail(status.error());
  if (!state_->locks.insert(std::string(name)).second) {
    return fail(Error{ErrorCode::locked, "another process writes here", {}}
                    .with("file", name)
                    .with("pid", std::uint64_t{1}));
  }
  return std::make_unique<SimLock>(state_, std::string(name));
}

}  // namespace runwire
