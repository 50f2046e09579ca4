// How a pool ends, recovers and reports: one promise per test.
#include "test-pool.h"

using namespace dormouse;

TEST("a hung worker is diagnosed and the pool goes on",
     "a silent hang; or freed memory under a worker that comes back") {
    PoolOptions options = with_threads(3);
    options.stall_limit_ns = 1'000'000'000;
    auto pool = TestPool::create(options);
    Latch latch;
    // Exactly one worker hangs, whoever claims what: both workers may be quicker than the host.
    const auto hang = [](void* raw, std::uint32_t, std::uint32_t thread_index) {
        auto& self = *static_cast<Latch*>(raw);
        if (thread_index != 0 && self.inside.fetch_add(1) == 0) {
            eventually("latch opened", [&] { return self.open.load(); });
        } else {
            eventually("a worker hangs", [&] { return self.inside.load() > 0; });
        }
    };
    CHECK(pool->run(hang, &latch, 2) == RunStatus::stalled);
    const std::string diagnosis = pool->diagnosis();
    CHECK(diagnosis.find("1 of 2 chunks finished") != std::string::npos);
    CHECK(diagnosis.find("worker 1 ") != std::string::npos && diagnosis.find("worker 2 ") != std::string::npos);
    CHECK(diagnosis.find("computing for ") != std::string::npos);
    CHECK(!pool->quiesce(1'000'000));
    // Meanwhile the host computes alone.
    ChunkCounter counter(10);
    CHECK(pool->run(ChunkCounter::compute, &counter, 10) == RunStatus::completed);
    counter.check_each_once(10);
    latch.open.store(true);
    CHECK(pool->quiesce());
    CHECK(pool->run(ChunkCounter::compute, &counter, 10) == RunStatus::completed);
    counter.check_each_once(10);
}

TEST("after quiesce no worker touches the caller's memory", "a use after free when a model is unloaded") {
    auto pool = TestPool::create(with_threads(3, 0));
    for (int round = 0; round < 500; ++round) {
        auto counter = std::make_unique<ChunkCounter>(20);
        CHECK(pool->run(ChunkCounter::compute, counter.get(), 20) == RunStatus::completed);
        CHECK(pool->quiesce());
        for (const WorkerStats& worker : pool->stats().workers) CHECK(worker.state != WorkerState::computing);
        counter.reset();  // AddressSanitizer sees who comes later
    }
}

TEST("two hosts take turns", "two contexts that publish into each other's epoch") {
    auto pool = TestPool::create(with_threads(3, 100'000));
    const auto host = [&] {
        ChunkCounter counter(40);
        for (int round = 0; round < 1'000; ++round) {
            CHECK(pool->run(ChunkCounter::compute, &counter, 40) == RunStatus::completed);
            counter.check_each_once(40);
        }
    };
    std::thread other(host);
    host();
    other.join();
    CHECK_EQUAL(pool->stats().epoch, 2'000ULL);
}

TEST("the pool can be destroyed at any point",
     "a destructor that loses its wake-up, or joins a thread that waits for it") {
    for (int round = 0; round < 150; ++round) {
        const std::uint64_t budgets[] = {0, 50'000, kSpinAlways};
        auto pool = TestPool::create(with_threads(4, budgets[round % 3]));
        ChunkCounter counter(round % 7 + 1U);
        for (int runs = 0; runs < round % 4; ++runs) {
            CHECK(pool->run(ChunkCounter::compute, &counter, round % 7 + 1U) == RunStatus::completed);
        }
        if (round % 5 == 0) pool->park();
        if (round % 10 == 0) wait_until_all_asleep(*pool);
    }
}

TEST("changing the spin budget reaches workers that spin", "a budget read once at the start of an endless spin") {
    auto pool = TestPool::create(with_threads(3, kSpinAlways));
    ChunkCounter counter(8);
    pool->run(ChunkCounter::compute, &counter, 8);
    CHECK_EQUAL(pool->stats().sleepers, 0U);
    pool->set_spin_ns(1'000'000);
    wait_until_all_asleep(*pool);
}

TEST("more threads than cores never spin", "spinning threads that keep each other from the core") {
    PoolOptions options = with_threads(5);
    options.oversubscribed = true;
    auto pool = TestPool::create(options);
    ChunkCounter counter(50);
    for (int round = 0; round < 200; ++round) {
        CHECK(pool->run(ChunkCounter::compute, &counter, 50) == RunStatus::completed);
        counter.check_each_once(50);
    }
    CHECK_EQUAL(pool->stats().governor.spin_ns, 0ULL);
    wait_until_all_asleep(*pool);
}

TEST("states and times add up", "computing shown as spinning, or time counted twice") {
    auto pool = TestPool::create(with_threads(2, 1'000'000));
    const std::uint64_t started = now_ns();
    Latch latch;
    std::thread host([&] { pool->run(Latch::compute, &latch, 2); });
    eventually("both inside", [&] { return latch.inside.load() == 2; });
    CHECK(pool->stats().workers[0].state == WorkerState::computing);
    latch.open.store(true);
    host.join();
    wait_until_all_asleep(*pool);
    const WorkerStats worker = pool->stats().workers[0];
    const std::uint64_t lifetime = now_ns() - started;
    CHECK(worker.busy_ns > 0 && worker.spin_ns > 0 && worker.asleep_ns > 0);
    // Counting began before `started`, by the time that the first test of the thread took to be made.
    CHECK(worker.busy_ns + worker.spin_ns <= lifetime + 1'000'000'000);
    CHECK_EQUAL(worker.chunks, 1ULL);
    CHECK(worker.cpu_ns > 0);
}
