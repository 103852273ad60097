#pragma once

/// What ThreadSanitizer cannot see: the packaged libzmq is not instrumented, so that it misses that
/// a message received happened after it was sent. All traffic passes Socket, which says so here.
/// One address for all hides races only between threads that just exchanged messages.
#if defined(__SANITIZE_THREAD__)
#define RUNWIRE_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define RUNWIRE_TSAN 1
#endif
#endif

#if defined(RUNWIRE_TSAN)
extern "C" void __tsan_acquire(void* address);
extern "C" void __tsan_release(void* address);
#endif

namespace runwire::bus {

#if defined(RUNWIRE_TSAN)
inline char hand_off;
inline void before_send() {
  __tsan_release(&hand_off);
}
inline void after_receive() {
  __tsan_acquire(&hand_off);
}
#else
inline void before_send() {}
inline void after_receive() {}
#endif

}  // namespace runwire::bus
