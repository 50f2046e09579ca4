#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <thread>

#include "spin-wait.h"

namespace dormouse {

inline constexpr std::uint64_t kSpinAlways = UINT64_MAX;
/// The source of these 20 ms: the longest pause between two layers' experts while a token is being computed.
inline constexpr std::uint64_t kSpinBeforeSleep = 20'000'000;

/// Where workers wait between epochs: spin first, then sleep. `publish()` is the only way to end that wait.
///
/// No wake-up is lost, and a publish without sleepers touches no mutex:
///
///     worker, holding the mutex             host
///     W1  sleepers += 1                     H1  epoch += 1
///     W2  read epoch                        H2  read sleepers
///         unchanged? wait                       not 0? lock, unlock, notify
///
/// All four are sequentially consistent, so there is one order of them that everyone agrees on. Should the worker sleep
/// through, W2 read the old epoch, so W2 comes before H1. Then W1 < W2 < H1 < H2, and H2 reads a sleeper: the host goes
/// for the mutex. The worker has held it since before W1 and gives it up only inside wait(), atomically with becoming
/// one of those that notify reaches; so when the host has it, the worker either waits already, and is notified, or
/// takes the mutex later, and its W2 sees the new epoch. With acquire and release alone both reads could be served
/// before the other side's write is out (store buffers), and worker and host would wait for each other.
template <class Policy>
class SleepGate {
 public:
    enum class Woken : std::uint8_t { spinning, sleeping };

    std::uint32_t epoch() const noexcept { return epoch_.load(std::memory_order_seq_cst); }
    std::uint32_t sleepers() const noexcept { return sleepers_.load(std::memory_order_relaxed); }
    // Relaxed: who reads it has seen the epoch that stop() published, which orders it.
    bool stopping() const noexcept { return stop_.load(std::memory_order_relaxed); }
    void set_spin_ns(std::uint64_t value) noexcept { spin_ns_.store(value, std::memory_order_relaxed); }
    std::uint64_t spin_ns() const noexcept { return spin_ns_.load(std::memory_order_relaxed); }

    /// Host only. Everything written before is visible to whoever sees the new epoch.
    void publish() noexcept {
        epoch_.fetch_add(1, std::memory_order_seq_cst);                                   // H1
        if (sleepers_.load(std::memory_order_seq_cst) != 0) wake_pending_ = !try_wake();  // H2
    }

    /// A worker can lose its core while it holds the mutex. The host, which could do the work itself meanwhile, must
    /// not wait for that: it tries for some microseconds, computes on, and tries again after each of its chunks.
    void retry_wake() noexcept {
        if (wake_pending_) wake_pending_ = !try_wake();
    }

    /// Puts workers to sleep that spin now, within about a microsecond; the next publish wakes them as usual.
    void park() noexcept {
        // The epoch goes with it, so that it concerns nobody who waits for a later one. Relaxed: it orders nothing.
        parked_.store(kParkedBit | epoch_.load(std::memory_order_relaxed), std::memory_order_relaxed);
    }

    /// Ends all waits, now and later. Not on the token path: here the wake-up is insisted on, as nothing follows it.
    void stop() noexcept {
        stop_.store(true, std::memory_order_relaxed);  // made visible by the epoch
        publish();
        while (wake_pending_) {
            std::this_thread::yield();
            retry_wake();
        }
    }

    /// A worker's wait for another epoch than `seen`. `on_sleep` is called when the spin is over, `on_gap` when the
    /// clock shows that the core was away meanwhile. Returns the epoch, never twice the same; all that the host wrote
    /// before publishing it is visible.
    template <class OnGap, class OnSleep>
    std::uint32_t wait(std::uint32_t seen, Woken& woken, OnGap&& on_gap, OnSleep&& on_sleep) {
        std::uint32_t now;
        if (spin(seen, now, on_gap)) {
            woken = Woken::spinning;
            return now;
        }
        on_sleep();
        std::unique_lock<typename Policy::Mutex> lock(mutex_);
        sleepers_.fetch_add(1, std::memory_order_seq_cst);  // W1
        Policy::at(Policy::Point::before_sleep);
        // stop() changes the epoch too, so this one predicate covers both.
        condition_.wait(lock, [&] { return (now = epoch_.load(std::memory_order_seq_cst)) != seen; });  // W2
        // Relaxed: a host that still reads the old number takes the mutex once in vain.
        sleepers_.fetch_sub(1, std::memory_order_relaxed);
        woken = Woken::sleeping;
        return now;
    }

 private:
    static constexpr std::uint64_t kParkedBit = 1ULL << 32;
    static constexpr std::uint32_t kPausesPerClockRead = 1'024;
    static constexpr std::uint32_t kPausesPerParkRead = 64;
    static constexpr std::uint32_t kLockTries = 500;
    /// 1,024 pauses take 15 to 60 us; a core that was away for this long was somebody else's.
    static constexpr std::uint64_t kGapNs = 500'000;

    /// Returns whether the epoch changed before the budget was used up.
    template <class OnGap>
    bool spin(std::uint32_t seen, std::uint32_t& now, OnGap&& on_gap) const noexcept {
        // Acquire: what the host wrote before it published is visible. Nothing else is decided by this read, since a
        // worker that misses the newest epoch here looks again or goes to W2.
        if ((now = epoch_.load(std::memory_order_acquire)) != seen) return true;
        if (spin_ns() == 0) return false;
        const std::uint64_t started = now_ns();
        std::uint64_t last = started;
        for (std::uint32_t pauses = 1;; ++pauses) {
            if ((now = epoch_.load(std::memory_order_acquire)) != seen) return true;
            cpu_pause();
            if (pauses % kPausesPerParkRead != 0) continue;
            if (parked_.load(std::memory_order_relaxed) == (kParkedBit | seen)) return false;
            if (pauses % kPausesPerClockRead != 0) continue;
            const std::uint64_t clock = now_ns();
            if (clock - last > kGapNs) on_gap();
            last = clock;
            // The budget is read anew each time: it shrinks under our feet when the machine gets busy.
            if (clock - started >= spin_ns()) return false;
        }
    }

    bool try_wake() noexcept {
        for (std::uint32_t tries = 0; tries < kLockTries; ++tries) {
            if (mutex_.try_lock()) {
                // Empty: having held it once after H1 is all that the argument above needs. Notifying without it spares
                // the woken from running into it at once.
                mutex_.unlock();
                condition_.notify_all();
                return true;
            }
            cpu_pause();
        }
        return false;
    }

    alignas(kCacheLine) std::atomic<std::uint32_t> epoch_{0};
    alignas(kCacheLine) std::atomic<std::uint32_t> sleepers_{0};
    alignas(kCacheLine) std::atomic<bool> stop_{false};
    std::atomic<std::uint64_t> parked_{0};
    std::atomic<std::uint64_t> spin_ns_{kSpinBeforeSleep};
    alignas(kCacheLine) typename Policy::Mutex mutex_;
    typename Policy::Condition condition_;
    /// Host only.
    alignas(kCacheLine) bool wake_pending_ = false;
};

}  // namespace dormouse
