// What the pool promises, one promise per test.
#include <condition_variable>
#include <cstring>

#include "test-pool.h"

using namespace dormouse;

TEST("each chunk runs exactly once", "an off-by-one in claiming: a chunk lost, doubled or beyond the end") {
    for (const std::uint32_t threads : {1U, 2U, 3U, 5U}) {
        auto pool = TestPool::create(with_threads(threads));
        ChunkCounter counter(300);
        for (std::uint32_t chunks = 0; chunks <= 300; ++chunks) {
            CHECK(pool->run(ChunkCounter::compute, &counter, chunks) == RunStatus::completed);
            counter.check_each_once(chunks);
        }
        CHECK_EQUAL(pool->stats().jobs, 300ULL * 301 / 2);
    }
}

TEST("one thread computes inline", "a pool of one that starts a worker, or hands the only chunk to nobody") {
    auto pool = TestPool::create(with_threads(1));
    const auto self = std::this_thread::get_id();
    static std::thread::id ran_on;
    const auto note = [](void*, std::uint32_t, std::uint32_t thread_index) {
        ran_on = std::this_thread::get_id();
        CHECK_EQUAL(thread_index, 0U);
    };
    CHECK(pool->run(note, nullptr, 3) == RunStatus::completed);
    CHECK(ran_on == self);
    CHECK(pool->stats().workers.empty());
}

TEST("65,535 chunks are the most", "a 16-bit field that overflows into its neighbour instead of being refused") {
    auto pool = TestPool::create(with_threads(2));
    ChunkCounter counter(kMaxChunksPerEpoch);
    CHECK(pool->run(ChunkCounter::compute, &counter, kMaxChunksPerEpoch) == RunStatus::completed);
    counter.check_each_once(kMaxChunksPerEpoch);
    CHECK(pool->run(ChunkCounter::compute, &counter, kMaxChunksPerEpoch + 1) == RunStatus::too_many_chunks);
    const Phase half{ChunkCounter::compute, &counter, 40'000};
    const Phase two[] = {half, half};
    CHECK(pool->run_phases(two, 2) == RunStatus::too_many_chunks);
    const std::vector<Phase> nine(kMaxPhases + 1, Phase{ChunkCounter::compute, &counter, 1});
    CHECK(pool->run_phases(nine.data(), kMaxPhases + 1) == RunStatus::too_many_chunks);
    counter.check_each_once(0);
}

TEST("a run from inside a chunk is refused", "a chunk that calls its own pool and waits for itself") {
    auto pool = TestPool::create(with_threads(2));
    struct Context {
        TestPool* pool;
        std::atomic<std::uint32_t> refused{0};
    } context{pool.get()};
    const auto nest = [](void* raw, std::uint32_t, std::uint32_t) {
        auto& self = *static_cast<Context*>(raw);
        if (self.pool->run(nullptr, nullptr, 1) == RunStatus::nested) self.refused.fetch_add(1);
        CHECK(!self.pool->quiesce(0));
    };
    CHECK(pool->run(nest, &context, 8) == RunStatus::completed);
    CHECK_EQUAL(context.refused.load(), 8U);
}

TEST("a phase begins when all chunks before it have finished",
     "a gate that counts arrived workers, or claimed chunks") {
    for (const std::uint32_t threads : {1U, 2U, 4U}) {
        auto pool = TestPool::create(with_threads(threads));
        struct Layer {
            std::atomic<std::uint32_t> finished[3] = {};
            std::uint32_t expected[3] = {24, 3, 40};
        } layer;
        const auto step = [](void* raw, std::uint32_t number) {
            auto& self = *static_cast<Layer*>(raw);
            for (std::uint32_t before = 0; before < number; ++before) {
                CHECK_EQUAL(self.finished[before].load(std::memory_order_relaxed), self.expected[before]);
            }
            burn(500);
            self.finished[number].fetch_add(1, std::memory_order_relaxed);
        };
        static const auto call = step;
        const Phase phases[] = {{[](void* raw, std::uint32_t, std::uint32_t) { call(raw, 0); }, &layer, 24},
                                {[](void* raw, std::uint32_t, std::uint32_t) { call(raw, 1); }, &layer, 3},
                                {[](void* raw, std::uint32_t, std::uint32_t) { call(raw, 2); }, &layer, 40}};
        for (int round = 0; round < 300; ++round) {
            for (auto& count : layer.finished) count.store(0, std::memory_order_relaxed);
            CHECK(pool->run_phases(phases, 3) == RunStatus::completed);
            CHECK_EQUAL(layer.finished[2].load(), 40U);
        }
        CHECK_EQUAL(pool->stats().epoch, 300ULL);
    }
}

TEST("results of a phase are seen by the next", "a gate without acquire: stale activations in the down projection") {
    auto pool = TestPool::create(with_threads(3));
    struct Context {
        std::uint32_t rows[64] = {};
        std::uint64_t sum = 0;
    } context;
    const Phase phases[] = {
        {[](void* raw, std::uint32_t chunk, std::uint32_t) { static_cast<Context*>(raw)->rows[chunk] = chunk + 1; },
         &context, 64},
        {[](void* raw, std::uint32_t, std::uint32_t) {
             auto& self = *static_cast<Context*>(raw);
             for (const std::uint32_t row : self.rows) self.sum += row;
         },
         &context, 1}};
    for (int round = 0; round < 500; ++round) {
        std::memset(context.rows, 0, sizeof context.rows);
        context.sum = 0;
        CHECK(pool->run_phases(phases, 2) == RunStatus::completed);
        CHECK_EQUAL(context.sum, 64ULL * 65 / 2);
    }
}

TEST("empty phases are skipped", "a gate of zero chunks that nobody ever opens") {
    auto pool = TestPool::create(with_threads(2));
    ChunkCounter counter(8);
    const Phase none{ChunkCounter::compute, &counter, 0};
    const Phase some{ChunkCounter::compute, &counter, 8};
    const Phase phases[] = {none, some, none, none};
    CHECK(pool->run_phases(phases, 4) == RunStatus::completed);
    counter.check_each_once(8);
    CHECK(pool->run_phases(&none, 1) == RunStatus::completed);
}

TEST("workers sleep when the spin budget is over and a publish wakes them",
     "a worker that spins for ever, or one that is never woken") {
    for (const std::uint64_t spin_ns : {std::uint64_t{0}, std::uint64_t{100'000}, std::uint64_t{20'000'000}}) {
        auto pool = TestPool::create(with_threads(3, spin_ns));
        wait_until_all_asleep(*pool);
        for (const WorkerStats& worker : pool->stats().workers) CHECK(worker.state == WorkerState::asleep);
        Latch latch;
        std::thread host([&] { CHECK(pool->run(Latch::compute, &latch, 3) == RunStatus::completed); });
        // Three chunks that end together need three threads: both workers have been woken.
        eventually("all three inside", [&] { return latch.inside.load() == 3; });
        latch.open.store(true);
        host.join();
        wait_until_all_asleep(*pool);
        CHECK(pool->stats().wakes >= 2);
    }
}

TEST("a publish without sleepers touches no mutex", "a token path that locks although everybody is awake") {
    auto pool = TestPool::create(with_threads(2, kSpinAlways));
    ChunkCounter counter(16);
    CHECK(pool->run(ChunkCounter::compute, &counter, 16) == RunStatus::completed);
    const std::uint64_t before = CountingMutex::taken();
    for (int round = 0; round < 1'000; ++round) pool->run(ChunkCounter::compute, &counter, 16);
    CHECK_EQUAL(CountingMutex::taken(), before);
    CHECK_EQUAL(pool->stats().sleepers, 0U);
}

TEST("a publish with sleepers takes the mutex once", "the counting mutex of the test above counting nothing") {
    auto pool = TestPool::create(with_threads(2, 0));
    wait_until_all_asleep(*pool);
    const std::uint64_t before = CountingMutex::taken();
    ChunkCounter counter(1);
    CHECK(pool->run(ChunkCounter::compute, &counter, 1) == RunStatus::completed);
    CHECK(CountingMutex::taken() > before);
}

TEST("late workers go back to spinning",
     "a worker that finds everything claimed and sleeps, late for the next layer too") {
    auto pool = TestPool::create(with_threads(2, kSpinAlways));
    const auto nothing = [](void*, std::uint32_t, std::uint32_t) {};
    for (int round = 0; round < 2'000; ++round) CHECK(pool->run(nothing, nullptr, 1) == RunStatus::completed);
    const PoolStats stats = pool->stats();
    CHECK_EQUAL(stats.workers[0].wakes, 0ULL);
    CHECK_EQUAL(stats.workers[0].asleep_ns, 0ULL);
}

TEST("park puts spinning workers to sleep", "spinning workers that steal the core of a long GPU prefill") {
    auto pool = TestPool::create(with_threads(3, kSpinAlways));
    ChunkCounter counter(64);
    for (int round = 0; round < 20; ++round) {
        CHECK(pool->run(ChunkCounter::compute, &counter, 64) == RunStatus::completed);
        counter.check_each_once(64);
        pool->park();
        wait_until_all_asleep(*pool);
    }
    // The next epoch is not parked: with "always" they stay awake after it.
    Latch latch;
    std::thread host([&] { CHECK(pool->run(Latch::compute, &latch, 3) == RunStatus::completed); });
    eventually("all three inside", [&] { return latch.inside.load() == 3; });
    latch.open.store(true);
    host.join();
    eventually("spinning", [&] {
        const PoolStats stats = pool->stats();
        return stats.workers[0].state == WorkerState::spinning && stats.workers[1].state == WorkerState::spinning;
    });
}

TEST("the stop flag ends a run between chunks", "Stop that waits for the whole layer, or leaves the epoch open") {
    auto pool = TestPool::create(with_threads(2));
    struct Context {
        std::atomic<bool> stop{false};
        std::atomic<std::uint32_t> ran{0};
    } context;
    const auto stop_at_three = [](void* raw, std::uint32_t, std::uint32_t) {
        auto& self = *static_cast<Context*>(raw);
        burn(50'000);
        if (self.ran.fetch_add(1) == 3) self.stop.store(true);
    };
    const Phase phases[] = {{stop_at_three, &context, 1'000}, {stop_at_three, &context, 1'000}};
    CHECK(pool->run_phases(phases, 2, &context.stop) == RunStatus::stopped);
    CHECK(context.ran.load() < 1'000);
    const std::uint32_t ran = context.ran.load();
    CHECK(pool->quiesce());
    CHECK_EQUAL(context.ran.load(), ran);
    ChunkCounter counter(50);
    CHECK(pool->run(ChunkCounter::compute, &counter, 50) == RunStatus::completed);
    counter.check_each_once(50);
}

TEST("a worker without a core costs its chunk and no more",
     "a host that waits for a worker to arrive, or shares work out in advance") {
    auto pool = TestPool::create(with_threads(2));
    struct Context {
        std::atomic<std::uint32_t> by_host{0};
        std::atomic<std::uint32_t> by_worker{0};
        std::atomic<bool> worker_returns{false};
    } context;
    const auto chunk = [](void* raw, std::uint32_t, std::uint32_t thread_index) {
        auto& self = *static_cast<Context*>(raw);
        if (thread_index == 0) {
            // The host keeps the last chunk until the worker holds one, so that there is a straggler at all.
            if (self.by_host.load() == 98)
                eventually("worker holds a chunk", [&] { return self.by_worker.load() > 0; });
            self.by_host.fetch_add(1);
        } else if (self.by_worker.fetch_add(1) == 0) {
            // Descheduled in the middle: it comes back when all the others are done, and they are done without it.
            eventually("the host did the rest", [&] { return self.by_host.load() == 99; });
            self.worker_returns.store(true);
        }
    };
    CHECK(pool->run(chunk, &context, 100) == RunStatus::completed);
    CHECK(context.worker_returns.load());
    CHECK_EQUAL(context.by_host.load(), 99U);
    CHECK_EQUAL(context.by_worker.load(), 1U);
}

TEST("the host finishes alone while workers are held up", "phase gates that need a worker to pass") {
    // Held after waking and before their first claim: awake, not asleep, and of no use.
    static std::atomic<bool> held{true};
    held.store(true);
    TestPolicy::hook.store([](TestPoint point, std::uint32_t) {
        if (point == TestPoint::woken) eventually("released", [] { return !held.load(); });
    });
    {
        auto pool = TestPool::create(with_threads(3, 0));
        ChunkCounter counter(30);
        const Phase phase{ChunkCounter::compute, &counter, 10};
        const Phase phases[] = {phase, phase, phase};
        for (int round = 0; round < 100; ++round) CHECK(pool->run_phases(phases, 3) == RunStatus::completed);
        for (std::uint32_t chunk = 0; chunk < 10; ++chunk) CHECK_EQUAL(counter.counts[chunk].load(), 300U);
        held.store(false);
    }
    TestPolicy::hook.store(nullptr);
}

TEST("a publish meets a worker that is falling asleep",
     "a host that waits for a mutex whose holder lost its core, or a worker that sleeps through the publish") {
    // Held between counting itself as a sleeper and looking at the epoch, with the mutex in hand.
    static std::atomic<bool> falling{false};
    static std::atomic<bool> held{true};
    falling = false;
    held = true;
    TestPolicy::hook.store([](TestPoint point, std::uint32_t) {
        if (point != TestPoint::before_sleep) return;
        falling = true;
        eventually("released", [] { return !held.load(); });
    });
    {
        auto pool = TestPool::create(with_threads(2, 0));
        eventually("falling asleep", [] { return falling.load(); });
        ChunkCounter counter(10);
        CHECK(pool->run(ChunkCounter::compute, &counter, 10) == RunStatus::completed);
        counter.check_each_once(10);
        // The next run needs the worker: it must not have slept through, and the second publish finds the mutex taken.
        Latch latch;
        std::thread host([&] { CHECK(pool->run(Latch::compute, &latch, 2) == RunStatus::completed); });
        eventually("the host is inside", [&] { return latch.inside.load() == 1; });
        held = false;
        eventually("the worker too", [&] { return latch.inside.load() == 2; });
        latch.open.store(true);
        host.join();
    }
    TestPolicy::hook.store(nullptr);
}
