#include "engine/store/sim_disk.hpp"

#include "engine/store/sim_file.hpp"
#include "engine/store/sim_state.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <utility>

namespace runwire {

std::unexpected<Error> sim::failed(ErrorCode code, std::string_view call, std::string_view file) {
  return fail(Error{code, "simulated: " + std::string(call) + " of " + std::string(file), {}}
                  .with("file", file)
                  .with("call", call));
}

namespace {

std::uint64_t mix(std::uint64_t hash, ByteView bytes) {
  for (const std::byte byte : bytes) {
    hash = (hash ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001b3U;
  }
  return (hash ^ bytes.size()) * 0x100000001b3U;
}

}  // namespace

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

void SimDisk::crash(std::uint64_t seed) {
  const std::scoped_lock lock(state_->mutex);
  std::mt19937_64 random(seed);
  const std::size_t kept = random() % (state_->renamings.size() + 1);
  for (std::size_t at = 0; at < kept; ++at)
    sim::take_up(state_->synced_names, state_->renamings[at]);
  state_->renamings.clear();
  state_->names = state_->synced_names;
  const std::uint64_t mood = random() % 4;  // A whole crash may lose or keep everything.
  std::set<sim::Node*> seen;
  for (auto& [name, node] : state_->names) {
    if (!seen.insert(node.get()).second) continue;
    Bytes image = mood == 1 ? node->now : node->synced;
    for (const sim::Unsynced& change : node->unsynced) {
      if (mood > 1) sim::survive(image, change, random);
    }
    // A new node: files that are still open keep the old one and are dead anyway.
    node = std::make_shared<sim::Node>(sim::Node{.now = image, .synced = image});
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
  std::map<const sim::Node*, std::shared_ptr<sim::Node>> twins;
  const auto twin = [&twins](const std::shared_ptr<sim::Node>& node) {
    auto& made = twins[node.get()];
    if (made == nullptr) made = std::make_shared<sim::Node>(*node);
    return made;
  };
  for (const auto& [name, node] : state_->names)
    copy->names[name] = twin(node);
  for (const auto& [name, node] : state_->synced_names)
    copy->synced_names[name] = twin(node);
  for (sim::Renaming change : state_->renamings) {
    if (change.node != nullptr) change.node = twin(change.node);
    copy->renamings.push_back(std::move(change));
  }
  return std::unique_ptr<SimDisk>(new SimDisk(std::move(copy)));
}

std::uint64_t SimDisk::image_hash() const {
  const std::scoped_lock lock(state_->mutex);
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const auto& [name, node] : state_->names)
    hash = mix(mix(hash, as_bytes(name)), node->now);
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
  const auto node = std::make_shared<sim::Node>(sim::Node{.now = bytes, .synced = bytes});
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
  if (state_->names.contains(name)) return sim::failed(ErrorCode::store_failed, "open", name);
  const auto node = std::make_shared<sim::Node>();
  state_->change({.from = {}, .to = std::string(name), .node = node});
  return std::make_unique<File>(state_, node, std::string(name));
}

Result<std::unique_ptr<DiskFile>> SimDisk::open(std::string_view name, bool /*writable*/) {
  const std::scoped_lock lock(state_->mutex);
  if (auto status = state_->plain_call("open", name, false); !status) return fail(status.error());
  const auto found = state_->names.find(name);
  if (found == state_->names.end()) return sim::failed(ErrorCode::not_found, "open", name);
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
  if (!state_->names.contains(name)) return sim::failed(ErrorCode::store_failed, "unlink", name);
  state_->change({.from = std::string(name), .to = {}, .node = nullptr});
  return {};
}

Status SimDisk::rename(std::string_view from, std::string_view to) {
  const std::scoped_lock lock(state_->mutex);
  if (auto status = state_->plain_call("rename", from, true); !status) return status;
  const auto found = state_->names.find(from);
  if (found == state_->names.end()) return sim::failed(ErrorCode::store_failed, "rename", from);
  state_->change({.from = std::string(from), .to = std::string(to), .node = found->second});
  return {};
}

Status SimDisk::sync_directory(std::string_view name) {
  const std::scoped_lock lock(state_->mutex);
  if (auto status = state_->plain_call("fsync", name, false); !status) return status;
  const auto inside = [name](const std::string& path) {
    const std::size_t slash = path.find('/');
    return slash == std::string::npos ? name.empty()
                                      : std::string_view(path).substr(0, slash) == name;
  };
  std::vector<sim::Renaming> left;
  for (sim::Renaming& change : state_->renamings) {
    const bool covered = inside(change.to.empty() ? change.from : change.to);
    if (covered) {
      sim::take_up(state_->synced_names, change);
    } else {
      left.push_back(std::move(change));
    }
  }
  state_->renamings = std::move(left);
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
