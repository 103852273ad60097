#include "engine/store/segments/catalogue_worker.hpp"

#include <utility>

namespace runwire::segments {

CatalogueWorker::CatalogueWorker(View& view, Catalogue& catalogue)
    : view_(view), catalogue_(catalogue), thread_([this] { run(); }) {}

CatalogueWorker::~CatalogueWorker() {
  const std::scoped_lock lock(mutex_);
  ending_ = true;
  changed_.notify_all();
}

void CatalogueWorker::sealed() {
  const std::scoped_lock lock(mutex_);
  ++asked_;
  changed_.notify_all();
}

Status CatalogueWorker::make_room() {
  if (view_.uncatalogued().size() < behind_max) return {};
  sealed();
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return done_ == asked_; });
  if (error_ && view_.uncatalogued().size() >= behind_max) return fail(*error_);
  return {};
}

void CatalogueWorker::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return ending_ || done_ != asked_; });
    if (done_ == asked_) return;
    const std::uint64_t taken = asked_;
    lock.unlock();
    take_up();
    lock.lock();
    done_ = taken;
    changed_.notify_all();
  }
}

void CatalogueWorker::take_up() {
  std::optional<Error> error;
  for (const View::Live& live : view_.uncatalogued()) {
    if (auto status = catalogue_.add(*live.index, live.at_end); !status) {
      // Tried again with the next segment: the files are the truth, the catalogue may wait.
      error = std::move(status.error());
      break;
    }
    view_.catalogued(live.index->info().number);
  }
  const std::scoped_lock lock(mutex_);
  error_ = std::move(error);
}

}  // namespace runwire::segments
