#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "spin-wait.h"

namespace dormouse {

/// What chunks are spent on, and what ggml's own path is.
enum class Work : std::uint8_t { convert, gate_up, activation, down, expert, dense, original_small, original_large };
inline constexpr std::size_t kWorkKinds = 8;

/// Threads beyond this share counters, which are atomic for that reason.
inline constexpr std::uint32_t kCountedThreads = 64;

/// Counters of all graphs of the process. Relaxed: each number stands for itself.
struct Counters {
    struct alignas(kCacheLine) Lane {
        std::array<std::atomic<std::uint64_t>, kWorkKinds> ns{};
        std::atomic<std::uint64_t> weight_bytes{0};
    };
    std::array<Lane, kCountedThreads> lanes{};
    alignas(kCacheLine) std::atomic<std::uint64_t> graphs{0};
    std::atomic<std::uint64_t> pool_nodes{0};
    std::atomic<std::uint64_t> original_nodes{0};
    std::atomic<std::uint64_t> units{0};
    std::atomic<std::uint64_t> plans{0};
    std::atomic<std::uint64_t> aborted{0};
    std::atomic<std::uint64_t> failed{0};

    Lane& lane(std::uint32_t thread) noexcept { return lanes[thread % kCountedThreads]; }
    void add(Work work, std::uint32_t thread, std::uint64_t ns) noexcept {
        lane(thread).ns[static_cast<std::size_t>(work)].fetch_add(ns, std::memory_order_relaxed);
    }
    std::uint64_t ns_of(Work work) const noexcept {
        std::uint64_t sum = 0;
        for (const Lane& one : lanes) sum += one.ns[static_cast<std::size_t>(work)].load(std::memory_order_relaxed);
        return sum;
    }
    std::uint64_t weight_bytes() const noexcept {
        std::uint64_t sum = 0;
        for (const Lane& one : lanes) sum += one.weight_bytes.load(std::memory_order_relaxed);
        return sum;
    }
};

/// Adds the time of its scope.
class ScopedWork {
 public:
    ScopedWork(Counters& counters, Work work, std::uint32_t thread) noexcept
        : counters_(counters), work_(work), thread_(thread), started_(now_ns()) {}
    ScopedWork(const ScopedWork&) = delete;
    ScopedWork& operator=(const ScopedWork&) = delete;
    ~ScopedWork() { counters_.add(work_, thread_, now_ns() - started_); }

 private:
    Counters& counters_;
    const Work work_;
    const std::uint32_t thread_;
    const std::uint64_t started_;
};

}  // namespace dormouse
