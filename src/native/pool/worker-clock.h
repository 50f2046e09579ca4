#pragma once

#include <atomic>
#include <cstdint>

#include "spin-wait.h"

namespace dormouse {

enum class WorkerState : std::uint8_t { computing, spinning, asleep };
inline constexpr std::uint32_t kWorkerStates = 3;

inline const char* name_of(WorkerState state) noexcept {
    switch (state) {
        case WorkerState::computing: return "computing";
        case WorkerState::spinning: return "spinning";
        case WorkerState::asleep: return "asleep";
    }
    return "unknown";
}

/// How long a worker has been in each state, in nanoseconds. One thread writes, any thread reads, nobody waits.
class WorkerClock {
 public:
    struct Times {
        WorkerState state;
        /// How long it has been in this state.
        std::uint64_t in_state_ns;
        /// Indexed by WorkerState; the running stretch is counted in.
        std::uint64_t total_ns[kWorkerStates];
    };

    void start(WorkerState state) noexcept {
        state_.store(state, std::memory_order_relaxed);
        since_ns_.store(now_ns(), std::memory_order_relaxed);
    }

    /// Writer only.
    void enter(WorkerState next) noexcept {
        const WorkerState last = state_.load(std::memory_order_relaxed);
        if (last == next) return;
        const std::uint64_t now = now_ns();
        const std::uint64_t spent = now - since_ns_.load(std::memory_order_relaxed);
        auto& total = total_ns_[static_cast<std::uint32_t>(last)];
        // A sequence lock out of atomics: odd while the fields change. Relaxed is enough for making it odd, because the
        // stores that follow are releases: a reader that acquires one of them has seen the odd version as well.
        const std::uint32_t version = version_.load(std::memory_order_relaxed);
        version_.store(version + 1, std::memory_order_relaxed);
        total.store(total.load(std::memory_order_relaxed) + spent, std::memory_order_release);
        since_ns_.store(now, std::memory_order_release);
        state_.store(next, std::memory_order_release);
        version_.store(version + 2, std::memory_order_release);
    }

    WorkerState state() const noexcept { return state_.load(std::memory_order_relaxed); }

    Times read() const noexcept {
        Times times{};
        for (std::uint32_t tries = 0;; ++tries) {
            const std::uint32_t before = version_.load(std::memory_order_acquire);
            times.state = state_.load(std::memory_order_acquire);
            const std::uint64_t since = since_ns_.load(std::memory_order_acquire);
            for (std::uint32_t index = 0; index < kWorkerStates; ++index) {
                times.total_ns[index] = total_ns_[index].load(std::memory_order_acquire);
            }
            // Relaxed: it cannot be served before the acquiring loads above it.
            const bool whole = before % 2 == 0 && version_.load(std::memory_order_relaxed) == before;
            // A writer can lose its core half-way. After some tries a reading that is off by one stretch is better
            // than waiting: these are numbers for a chart.
            if (!whole && tries < 1'000) continue;
            const std::uint64_t now = now_ns();
            times.in_state_ns = now > since ? now - since : 0;
            times.total_ns[static_cast<std::uint32_t>(times.state)] += times.in_state_ns;
            return times;
        }
    }

 private:
    std::atomic<std::uint32_t> version_{0};
    std::atomic<WorkerState> state_{WorkerState::spinning};
    std::atomic<std::uint64_t> since_ns_{0};
    std::atomic<std::uint64_t> total_ns_[kWorkerStates] = {};
};

}  // namespace dormouse
