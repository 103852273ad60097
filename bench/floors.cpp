#include "bench/floors.hpp"

#include <zmq.hpp>

#include <chrono>
#include <cstdlib>
#include <fcntl.h>
#include <fmt/core.h>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

namespace runwire::bench {
namespace {

using Clock = std::chrono::steady_clock;

double per_second(std::size_t events, Clock::time_point since) {
  return static_cast<double>(events) / std::chrono::duration<double>(Clock::now() - since).count();
}

void must(bool holds, const char* what) {
  if (holds) return;
  fmt::print(stderr, "bench: {} failed\n", what);
  std::exit(1);
}

void must_write(int file, const std::vector<char>& bytes, std::size_t offset) {
  const ssize_t written = ::pwrite(file, bytes.data(), bytes.size(), static_cast<off_t>(offset));
  must(written == static_cast<ssize_t>(bytes.size()), "pwrite");
}

std::string bound(zmq::socket_t& socket) {
  socket.set(zmq::sockopt::linger, 0);
  socket.bind("tcp://127.0.0.1:*");
  return socket.get(zmq::sockopt::last_endpoint);
}

}  // namespace

double file_with_sync(const std::string& directory,
                      std::size_t event_bytes,
                      std::size_t batch_events,
                      std::size_t events) {
  const std::string path = directory + "/floor";
  const int file = ::open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  must(file >= 0, "open");
  const std::vector<char> batch(event_bytes * batch_events, 'x');
  const std::size_t batches = events / batch_events;
  for (std::size_t at = 0; at < batches; ++at)
    must_write(file, batch, at * batch.size());
  must(::fdatasync(file) == 0, "fdatasync");
  const auto since = Clock::now();
  for (std::size_t at = 0; at < batches; ++at) {
    must_write(file, batch, at * batch.size());
    must(::fdatasync(file) == 0, "fdatasync");
  }
  const double rate = per_second(batches * batch_events, since);
  ::close(file);
  return rate;
}

double router_pages(std::size_t event_bytes,
                    std::size_t page_events,
                    std::size_t outstanding,
                    std::size_t events) {
  zmq::context_t context;
  zmq::socket_t router(context, zmq::socket_type::router);
  const std::string endpoint = bound(router);
  const std::size_t pages = events / page_events;
  std::jthread server([&] {
    const std::vector<char> page(event_bytes * page_events, 'x');
    for (std::size_t at = 0; at < pages; ++at) {
      zmq::message_t peer;
      zmq::message_t request;
      must(router.recv(peer).has_value() && router.recv(request).has_value(), "recv");
      router.send(peer, zmq::send_flags::sndmore);
      router.send(request, zmq::send_flags::sndmore);
      router.send(zmq::buffer(page), zmq::send_flags::none);
    }
  });
  zmq::socket_t dealer(context, zmq::socket_type::dealer);
  dealer.set(zmq::sockopt::linger, 0);
  dealer.connect(endpoint);
  const auto since = Clock::now();
  std::size_t asked = 0;
  for (std::size_t got = 0; got < pages; ++got) {
    for (; asked < pages && asked - got < outstanding; ++asked)
      dealer.send(zmq::str_buffer("page"));
    zmq::message_t header;
    zmq::message_t page;
    must(dealer.recv(header).has_value() && dealer.recv(page).has_value(), "recv");
  }
  return per_second(pages * page_events, since);
}

double router_requests(std::size_t event_bytes,
                       std::size_t frame_events,
                       std::size_t outstanding,
                       std::size_t events) {
  zmq::context_t context;
  zmq::socket_t router(context, zmq::socket_type::router);
  const std::string endpoint = bound(router);
  const std::size_t requests = events / frame_events;
  std::jthread server([&] {
    for (std::size_t at = 0; at < requests; ++at) {
      zmq::message_t peer;
      zmq::message_t request;
      must(router.recv(peer).has_value() && router.recv(request).has_value(), "recv");
      router.send(peer, zmq::send_flags::sndmore);
      router.send(zmq::str_buffer("taken"), zmq::send_flags::none);
    }
  });
  zmq::socket_t dealer(context, zmq::socket_type::dealer);
  dealer.set(zmq::sockopt::linger, 0);
  dealer.connect(endpoint);
  const std::vector<char> frame(event_bytes * frame_events, 'x');
  const auto since = Clock::now();
  std::size_t asked = 0;
  for (std::size_t got = 0; got < requests; ++got) {
    for (; asked < requests && asked - got < outstanding; ++asked) {
      dealer.send(zmq::buffer(frame), zmq::send_flags::none);
    }
    zmq::message_t reply;
    must(dealer.recv(reply).has_value(), "recv");
  }
  return per_second(requests * frame_events, since);
}

double pub_to_one(std::size_t event_bytes, std::size_t frame_events, std::size_t events) {
  zmq::context_t context;
  zmq::socket_t publisher(context, zmq::socket_type::xpub);
  publisher.set(zmq::sockopt::xpub_nodrop, true);  // the floor waits instead of losing
  const std::string endpoint = bound(publisher);
  zmq::socket_t subscriber(context, zmq::socket_type::sub);
  subscriber.set(zmq::sockopt::linger, 0);
  subscriber.connect(endpoint);
  subscriber.set(zmq::sockopt::subscribe, "*/");
  zmq::message_t subscription;
  must(publisher.recv(subscription).has_value(), "recv");
  const std::size_t frames = events / frame_events;
  const auto since = Clock::now();
  std::jthread sender([&] {
    const std::vector<char> frame(event_bytes * frame_events, 'x');
    for (std::size_t at = 0; at < frames; ++at) {
      publisher.send(zmq::str_buffer("*/"), zmq::send_flags::sndmore);
      publisher.send(zmq::str_buffer("header"), zmq::send_flags::sndmore);
      publisher.send(zmq::buffer(frame), zmq::send_flags::none);
    }
  });
  for (std::size_t got = 0; got < frames; ++got) {
    for (int part = 0; part < 3; ++part) {
      zmq::message_t message;
      must(subscriber.recv(message).has_value(), "recv");
    }
  }
  return per_second(frames * frame_events, since);
}

}  // namespace runwire::bench
