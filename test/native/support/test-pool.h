#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <vector>

#include "claims.h"
#include "pool-core.h"
#include "test-case.h"

/// A mutex that counts how often it was taken: a publish without sleepers must leave the number as it is.
class CountingMutex {
 public:
    void lock() {
        taken_.fetch_add(1, std::memory_order_relaxed);
        mutex_.lock();
        held_.fetch_add(1);
    }
    bool try_lock() {
        taken_.fetch_add(1, std::memory_order_relaxed);
        const bool locked = mutex_.try_lock();
        if (locked) held_.fetch_add(1);
        return locked;
    }
    void unlock() {
        mutex_.unlock();
        held_.fetch_sub(1);
    }
    static std::uint64_t taken() { return taken_.load(std::memory_order_relaxed); }
    /// Nobody holds one: whoever was falling asleep is in its wait. Before that a publish may find the mutex taken by a
    /// worker without a core, and puts the wake-up off to the host's next look, which a test that waits never has.
    static bool is_free() { return held_.load() == 0; }

 private:
    std::mutex mutex_;
    static inline std::atomic<std::uint64_t> taken_{0};
    static inline std::atomic<int> held_{0};
};

/// Holds threads at named points of the protocol, so that tests choose the interleaving instead of hoping for it.
enum class TestPoint : std::uint8_t { before_sleep, woken, claimed, opening };
using PointHook = void (*)(TestPoint point, std::uint32_t thread_index);

struct TestPolicyBase {
    using Mutex = CountingMutex;
    using Condition = std::condition_variable_any;
    using Point = TestPoint;
    static inline std::atomic<PointHook> hook{nullptr};
    static void at(Point point, std::uint32_t thread_index = 0) {
        if (const PointHook call = hook.load()) call(point, thread_index);
    }
};

struct TestPolicy : TestPolicyBase {
    using Claims = dormouse::TaggedClaims;
};
using TestPool = dormouse::PoolCore<TestPolicy>;

/// Counts how often each chunk of an epoch ran.
struct ChunkCounter {
    std::vector<std::atomic<std::uint32_t>> counts;
    std::uint64_t burn_ns = 0;

    explicit ChunkCounter(std::uint32_t chunks) : counts(chunks) {}
    static void compute(void* context, std::uint32_t chunk, std::uint32_t) {
        auto& self = *static_cast<ChunkCounter*>(context);
        if (self.burn_ns > 0) burn(self.burn_ns);
        self.counts[chunk].fetch_add(1, std::memory_order_relaxed);
    }
    /// Each chunk of the first `chunks` exactly once, and none beyond.
    void check_each_once(std::uint32_t chunks) {
        for (std::uint32_t index = 0; index < counts.size(); ++index) {
            CHECK_EQUAL(counts[index].exchange(0), index < chunks ? 1U : 0U);
        }
    }
};

/// A chunk that waits until the test opens it.
struct Latch {
    std::atomic<std::uint32_t> inside{0};
    std::atomic<bool> open{false};
    static void compute(void* context, std::uint32_t, std::uint32_t) {
        auto& self = *static_cast<Latch*>(context);
        self.inside.fetch_add(1);
        eventually("latch opened", [&] { return self.open.load(); });
    }
};

inline dormouse::PoolOptions with_threads(std::uint32_t threads, std::uint64_t spin_ns = dormouse::kSpinBeforeSleep) {
    dormouse::PoolOptions options;
    options.threads = threads;
    options.spin_ns = spin_ns;
    // These tests hold workers up on purpose, and would not want them benched for it.
    options.govern = false;
    return options;
}

template <class Pool>
void wait_until_all_asleep(const Pool& pool) {
    eventually("all workers asleep", [&] {
        const dormouse::PoolStats stats = pool.stats();
        std::uint32_t asleep = 0;
        for (const auto& worker : stats.workers) asleep += worker.state == dormouse::WorkerState::asleep ? 1 : 0;
        // The state is entered a little before the wait; whoever is not benched also counts as a sleeper then.
        return asleep == stats.workers.size() && stats.sleepers + stats.governor.benched >= stats.workers.size() &&
               CountingMutex::is_free();
    });
}
