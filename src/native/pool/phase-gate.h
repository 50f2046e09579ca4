#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "spin-wait.h"

namespace dormouse {

/// Waits inside an epoch: for the chunks of a phase, or of the whole epoch, that others have in hand. They spin for
/// some tens of microseconds, a chunk's length, and then block: on a busy machine the thread that is waited for may
/// need the very core that the waiter holds.
///
/// The hand-over is that of SleepGate with other names: the finisher raises `done` and then reads `waiters`, the waiter
/// raises `waiters` and then reads `done`, all sequentially consistent. Two things differ. A finisher that cannot get
/// the mutex at once lets it be, and a finisher can lose its core between raising `done` and notifying. So no wait
/// lasts longer than a slice without looking for itself; a slice is also what makes a bound on the whole wait possible.
class PhaseGate {
 public:
    /// After raising `done` to the end of a phase or of the epoch.
    void notify() noexcept {
        if (waiters_.load(std::memory_order_seq_cst) == 0) return;
        for (std::uint32_t tries = 0; tries < kLockTries; ++tries) {
            if (mutex_.try_lock()) {
                mutex_.unlock();
                condition_.notify_all();
                return;
            }
            cpu_pause();
        }
    }

    /// Blocks until `ready()`, or until `give_up()` (asked once per slice) says so. Returns whether it became ready.
    template <class Ready, class GiveUp>
    bool block(Ready&& ready, GiveUp&& give_up, std::chrono::microseconds slice) {
        std::unique_lock<std::mutex> lock(mutex_);
        waiters_.fetch_add(1, std::memory_order_seq_cst);
        bool is_ready = ready();
        while (!is_ready) {
            condition_.wait_for(lock, slice);
            is_ready = ready();
            if (!is_ready && give_up()) break;
        }
        // Relaxed: a finisher that still reads the old number notifies once in vain.
        waiters_.fetch_sub(1, std::memory_order_relaxed);
        return is_ready;
    }

 private:
    static constexpr std::uint32_t kLockTries = 100;

    alignas(kCacheLine) std::atomic<std::uint32_t> waiters_{0};
    alignas(kCacheLine) std::mutex mutex_;
    std::condition_variable condition_;
};

}  // namespace dormouse
