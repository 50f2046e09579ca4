// Many epochs with random work, at every moment a sleeper that wakes late. Counts of epochs are for
// DORMOUSE_TEST_SCALE 1.
#include "expert-pool.h"
#include "test-pool.h"

using namespace dormouse;

namespace {

struct Random {
    std::uint64_t state;
    std::uint32_t below(std::uint32_t bound) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        return static_cast<std::uint32_t>((state >> 32) % bound);
    }
};

constexpr std::uint32_t kMostChunks = 12;

/// One epoch's worth of work: how long each chunk takes, how often it ran, and which epoch it thinks it is.
struct Work {
    std::uint32_t burn_ns[kMostChunks] = {};
    std::atomic<std::uint32_t> ran[kMostChunks] = {};

    static void compute(void* raw, std::uint32_t chunk, std::uint32_t) {
        auto& self = *static_cast<Work*>(raw);
        if (self.burn_ns[chunk] > 0) burn(self.burn_ns[chunk]);
        self.ran[chunk].fetch_add(1, std::memory_order_relaxed);
    }
    void roll(Random& random) {
        const std::uint32_t kind = random.below(20);
        // Mostly nothing, so that ends and beginnings of epochs meet; now and then up to 50 us.
        const std::uint32_t longest = kind < 12 ? 1 : kind < 19 ? 4'000 : 50'000;
        for (std::uint32_t& nanoseconds : burn_ns) nanoseconds = random.below(longest);
    }
};

struct Mix {
    std::uint32_t threads;
    std::uint64_t spin_ns;
    bool govern;
    std::uint32_t park_one_in;
    std::uint32_t epochs;
    bool oversubscribed = false;
};

template <class Pool>
void run_epochs(Pool& pool, const Mix& mix, std::uint32_t epochs, std::uint64_t seed) {
    Random random{seed};
    Work work[3];
    for (std::uint32_t epoch = 0; epoch < epochs; ++epoch) {
        Phase phases[3];
        const std::uint32_t count = 1 + random.below(3);
        for (std::uint32_t phase = 0; phase < count; ++phase) {
            work[phase].roll(random);
            phases[phase] = {Work::compute, &work[phase], random.below(kMostChunks + 1)};
        }
        CHECK(pool.run_phases(phases, count) == RunStatus::completed);
        for (std::uint32_t phase = 0; phase < count; ++phase) {
            for (std::uint32_t chunk = 0; chunk < kMostChunks; ++chunk) {
                CHECK_EQUAL(work[phase].ran[chunk].exchange(0, std::memory_order_relaxed),
                            chunk < phases[phase].chunks ? 1U : 0U);
            }
        }
        if (mix.park_one_in > 0 && random.below(mix.park_one_in) == 0) pool.park();
        // Gaps around the spin budget, where falling asleep and publishing meet.
        if (random.below(8) == 0) burn(random.below(30'000));
    }
}

void stress(const Mix& mix, std::uint32_t hosts = 1) {
    PoolOptions options;
    options.threads = mix.threads;
    options.spin_ns = mix.spin_ns;
    options.govern = mix.govern;
    options.oversubscribed = mix.oversubscribed;
    options.rehearsal_ns = 100'000;
    auto pool = ExpertPool::create(options);
    const auto epochs = static_cast<std::uint32_t>(mix.epochs * test_scale());
    const auto seed = std::uint64_t{0x9e3779b97f4a7c15} + mix.threads * 77 + mix.spin_ns;
    std::vector<std::thread> others;
    for (std::uint32_t host = 1; host < hosts; ++host) {
        others.emplace_back([&, host] { run_epochs(*pool, mix, epochs / hosts, seed + host); });
    }
    run_epochs(*pool, mix, epochs / hosts, seed);
    for (std::thread& other : others) other.join();
}

}  // namespace

TEST("stress: spin 0, one thread per core", "a wake-up lost, a chunk lost or doubled when workers sleep at once") {
    stress({2, 0, false, 0, 80'000});
}
TEST("stress: spin 0, one thread and a half per core", "the same with threads that lose their cores anywhere") {
    stress({3, 0, false, 0, 60'000});
}
TEST("stress: spin 0, two threads per core", "the same with twice as many threads as cores") {
    stress({4, 0, false, 0, 60'000});
}
TEST("stress: budgets around the gaps between epochs", "falling asleep in the very moment of a publish") {
    for (const std::uint64_t spin_ns : {2'000ULL, 10'000ULL, 30'000ULL}) stress({2, spin_ns, false, 0, 8'000});
}
TEST("stress: parking at random", "a park that outlives its epoch, or swallows a wake-up") {
    stress({3, 20'000'000, false, 4, 8'000});
}
TEST("stress: benching and probing", "a benched worker that is lost, or wakes into another epoch's chunks") {
    stress({4, 50'000, true, 0, 15'000});
}
TEST("stress: no spinning anywhere", "a blocked wait inside an epoch that nobody ends") {
    stress({4, 0, true, 0, 10'000, true});
}
TEST("stress: two hosts", "two contexts evaluating at once, each with its own chunks") {
    stress({3, 0, true, 0, 20'000}, 2);
}
