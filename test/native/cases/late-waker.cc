// A worker that was woken for one epoch and gets to run in the middle of the next. The same interleaving, forced by
// hooks, on the protocol as it is and on the one without epoch tags.
#include "test-pool.h"
#include "untagged-claims.h"

using namespace dormouse;

namespace {

/// Stops at the beginning of open(), where the untagged protocol stops in the middle of its resets.
class ObservedClaims : public TaggedClaims {
 public:
    void open(std::uint32_t epoch, const Phase* phases, std::uint32_t count, std::uint32_t total) {
        TestPolicyBase::at(TestPoint::opening);
        TaggedClaims::open(epoch, phases, count, total);
    }
};

struct TaggedPolicy : TestPolicyBase {
    using Claims = ObservedClaims;
};
struct UntaggedPolicy : TestPolicyBase {
    using Claims = UntaggedClaims;
};

std::atomic<std::uint32_t> opened{0};
std::atomic<std::uint32_t> woken{0};
std::atomic<std::uint32_t> gone_to_sleep{0};
std::atomic<bool> late_may_go{false};

/// Holds the worker between its first waking and its claim. When the host opens the second epoch, lets it go and waits
/// until it has done what it does, which ends in sleep.
void hold_the_late_waker(TestPoint point, std::uint32_t) {
    switch (point) {
        case TestPoint::woken:
            if (woken.fetch_add(1) == 0) eventually("the late waker may go", [] { return late_may_go.load(); });
            break;
        case TestPoint::before_sleep: gone_to_sleep.fetch_add(1); break;
        case TestPoint::opening:
            if (opened.fetch_add(1) == 1) {
                const std::uint32_t before = gone_to_sleep.load();
                late_may_go.store(true);
                eventually("the late waker is through", [&] { return gone_to_sleep.load() > before; });
            }
            break;
        case TestPoint::claimed: break;
    }
}

struct Outcome {
    RunStatus status;
    std::uint32_t first[4];
    std::uint32_t second[4];
};

template <class Policy>
Outcome run_with_late_waker() {
    opened = woken = gone_to_sleep = 0;
    late_may_go = false;
    TestPolicyBase::hook.store(hold_the_late_waker);
    PoolOptions options = with_threads(2, 0);
    options.stall_limit_ns = 300'000'000;
    auto pool = PoolCore<Policy>::create(options);
    eventually("asleep", [&] { return gone_to_sleep.load() == 1 && CountingMutex::is_free(); });
    ChunkCounter first(4);
    ChunkCounter second(4);
    CHECK(pool->run(ChunkCounter::compute, &first, 4) == RunStatus::completed);
    eventually("the worker is woken", [] { return woken.load() == 1; });
    Outcome outcome{};
    outcome.status = pool->run(ChunkCounter::compute, &second, 4);
    pool.reset();
    TestPolicyBase::hook.store(nullptr);
    for (std::uint32_t chunk = 0; chunk < 4; ++chunk) {
        outcome.first[chunk] = first.counts[chunk].load();
        outcome.second[chunk] = second.counts[chunk].load();
    }
    return outcome;
}

}  // namespace

TEST("a late waker takes nothing of the next epoch",
     "claims without an epoch: a chunk lost, another run twice, a host that hangs") {
    const Outcome outcome = run_with_late_waker<TaggedPolicy>();
    CHECK(outcome.status == RunStatus::completed);
    for (std::uint32_t chunk = 0; chunk < 4; ++chunk) {
        CHECK_EQUAL(outcome.first[chunk], 1U);
        CHECK_EQUAL(outcome.second[chunk], 1U);
    }
}

TEST("the same interleaving breaks the protocol without tags", "a late-waker test that would pass on anything") {
    const Outcome outcome = run_with_late_waker<UntaggedPolicy>();
    CHECK(outcome.status == RunStatus::stalled);
    // Chunks of the second epoch were computed as the first one's, twice, and never as their own.
    CHECK_EQUAL(outcome.first[0], 2U);
    CHECK_EQUAL(outcome.second[0], 0U);
}

TEST("a late waker in the middle of an epoch waits for its own", "a worker that claims from an epoch it has not seen") {
    static std::atomic<std::uint32_t> claimed_late;
    static std::atomic<bool> first_waking_over;
    claimed_late = 0;
    first_waking_over = false;
    woken = 0;
    late_may_go = false;
    TestPolicyBase::hook.store([](TestPoint point, std::uint32_t thread_index) {
        if (point == TestPoint::woken) {
            if (woken.fetch_add(1) == 0) {
                eventually("the late waker may go", [] { return late_may_go.load(); });
            } else {
                first_waking_over.store(true);
            }
        }
        if (point == TestPoint::claimed && thread_index == 1 && !first_waking_over.load()) claimed_late.fetch_add(1);
    });
    {
        auto pool = PoolCore<TaggedPolicy>::create(with_threads(2, 0));
        wait_until_all_asleep(*pool);
        ChunkCounter counter(2);
        CHECK(pool->run(ChunkCounter::compute, &counter, 2) == RunStatus::completed);
        counter.check_each_once(2);
        eventually("the worker is woken", [] { return woken.load() == 1; });
        const auto chunk = [](void*, std::uint32_t index, std::uint32_t thread_index) {
            if (thread_index != 0 || index != 0) return;
            late_may_go.store(true);
            eventually("it has come back and been woken anew", [] { return first_waking_over.load(); });
        };
        CHECK(pool->run(chunk, nullptr, 8) == RunStatus::completed);
        CHECK_EQUAL(claimed_late.load(), 0U);
    }
    TestPolicyBase::hook.store(nullptr);
}
