#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "governor.h"
#include "job.h"
#include "phase-gate.h"
#include "pool-stats.h"
#include "sleep-gate.h"
#include "thread-control.h"
#include "worker-clock.h"

namespace dormouse {

struct PoolOptions {
    /// Host and workers; 1 means that the caller computes everything itself.
    std::uint32_t threads = 1;
    /// Wall-clock time for which a worker spins before it sleeps; 0 sleeps at once, kSpinAlways never.
    std::uint64_t spin_ns = kSpinBeforeSleep;
    /// Logical cores by thread, the host's first; threads without one run where the system puts them.
    std::vector<std::uint32_t> cpus = {};
    /// More threads than cores: nobody spins, as the one that is waited for needs the core. kSpinAlways still does.
    bool oversubscribed = false;
    /// Benches workers that lose their core, and spins shorter on a busy machine. Never where kSpinAlways is asked for.
    bool govern = true;
    /// How long a benched worker rehearses before it takes part again.
    std::uint64_t rehearsal_ns = Governor::kRehearsalNs;
    /// How long a wait inside an epoch spins before it blocks.
    std::uint64_t in_phase_spin_ns = 30'000;
    /// Without any finished chunk for this long a run is given up as stalled.
    std::uint64_t stall_limit_ns = 60'000'000'000;
};

/// The sleeping expert pool. `Policy` is ProductionPolicy; tests put counting mutexes, points to stop threads at, and
/// the protocol without epoch tags in its place.
template <class Policy>
class PoolCore {
 public:
    /// Deletes the pool when its threads have ended. One that hangs in a chunk keeps the pool's memory for ever
    /// instead.
    struct Destroy {
        void operator()(PoolCore* pool) const {
            if (pool->end_workers()) delete pool;
        }
    };
    using Handle = std::unique_ptr<PoolCore, Destroy>;

    static Handle create(const PoolOptions& options) {
        Handle pool(new PoolCore(options));
        pool->start_workers();
        return pool;
    }

    /// Computes `chunks` pieces with the caller's and all awake threads; see Phase. Hosts take turns: a mutex makes the
    /// second one wait for the first one's run, which is bounded by its own stall limit.
    /// `stop`, if given, is looked at between two chunks of the host.
    RunStatus run(ChunkFunction function, void* context, std::uint32_t chunks,
                  const std::atomic<bool>* stop = nullptr) {
        const Phase phase{function, context, chunks};
        return run_phases(&phase, 1, stop);
    }

    /// The same for up to kMaxPhases phases, of which each waits for the one before it, with a single publish.
    RunStatus run_phases(const Phase* phases, std::uint32_t count, const std::atomic<bool>* stop = nullptr);

    /// Spinning workers go to sleep at once: before a long stretch in which the pool has no part.
    void park() noexcept { gate_.park(); }

    /// Waits until no worker is inside a chunk, at most `limit_ns`. True: whatever chunks worked on may be freed, and
    /// no worker touches it again. After a completed run it returns at once; it matters after a stalled one.
    bool quiesce(std::uint64_t limit_ns = 60'000'000'000);

    void set_spin_ns(std::uint64_t spin_ns) {
        const std::lock_guard<std::mutex> host(host_mutex_);
        configured_spin_ns_.store(spin_ns, std::memory_order_relaxed);
        if (spin_ns == kSpinAlways) empty_bench();
        apply_spin();
    }

    /// Lock-free reads; never waits for a run.
    PoolStats stats() const;
    std::uint32_t threads() const noexcept { return static_cast<std::uint32_t>(workers_.size()) + 1; }
    /// Workers that take part now.
    std::uint32_t active_workers() const noexcept {
        return static_cast<std::uint32_t>(workers_.size()) - benched_.load(std::memory_order_relaxed);
    }
    /// Others want the cores too: half of the workers or more are benched. Threads that wait for each other lose time
    /// slices then. Relaxed: a hint alone.
    bool crowded() const noexcept { return crowded_.load(std::memory_order_relaxed); }
    /// Whether the machine's load may decide who computes.
    bool governed() const noexcept {
        return options_.govern && configured_spin_ns_.load(std::memory_order_relaxed) != kSpinAlways;
    }
    /// The calling host has just used threads that are not the pool's: that they took its core from it says nothing
    /// about others. While another host computes nothing is noted: no host waits for a mere hint.
    void forget_switches() {
        const std::unique_lock<std::mutex> host(host_mutex_, std::try_to_lock);
        if (host && std::this_thread::get_id() == host_thread_) host_switches_ = involuntary_switches();
    }
    /// The host's core while pool work is in the calling thread, or -1 for none: nothing to keep apart if all workers
    /// are benched, and then the system should be free to move the host.
    int host_cpu() const noexcept {
        return options_.cpus.empty() || active_workers() == 0 ? -1 : static_cast<int>(options_.cpus[0]);
    }
    /// What the last stalled run found: one clause per worker.
    std::string diagnosis() const {
        const std::lock_guard<std::mutex> host(host_mutex_);
        return diagnosis_;
    }

 private:
    using Gate = SleepGate<Policy>;
    using Point = typename Policy::Point;

    enum class Rehearsal : std::uint8_t { none, asked, passed, failed };

    struct alignas(kCacheLine) Worker {
        std::uint32_t thread_index = 0;
        std::thread thread;
        /// Written by the host, read by the worker at each claim.
        alignas(kCacheLine) std::atomic<bool> benched{false};
        /// Written by the worker only, read by anyone.
        alignas(kCacheLine) WorkerClock clock;
        std::atomic<std::uint64_t> wakes{0};
        std::atomic<std::uint64_t> chunks{0};
        /// How often its core was found to have been away while it was spinning.
        std::atomic<std::uint64_t> gaps{0};
        /// Set to `asked` by the host, to the outcome by the worker.
        alignas(kCacheLine) std::atomic<Rehearsal> rehearsal{Rehearsal::none};
        /// Host only: `chunks` and `gaps` when the governor's window opened.
        std::uint64_t chunks_before = 0;
        std::uint64_t gaps_before = 0;
    };

    explicit PoolCore(const PoolOptions& options)
        : options_(options), governor_(options.threads > 0 ? options.threads - 1 : 0) {
        configured_spin_ns_.store(options.spin_ns, std::memory_order_relaxed);
        shares_.resize(options.threads);
        apply_spin();
    }
    ~PoolCore() = default;

    void start_workers();
    bool end_workers();

    // Worker side (pool-core-worker.h)
    void worker_main(Worker& worker);
    void take_part(Worker& worker, std::uint32_t epoch);
    void wait_at_gate(Worker& worker, std::uint32_t epoch, std::uint32_t gate);
    void sit_out(Worker& worker);
    bool rehearse() const noexcept;

    // Host side (pool-core-host.h)
    RunStatus compute(std::uint32_t epoch, const std::atomic<bool>* stop);
    RunStatus compute_alone(const Phase* phases, std::uint32_t count, const std::atomic<bool>* stop);
    template <class Ready>
    bool host_wait(Ready&& ready);
    template <class Ready>
    bool host_block(Ready&& ready, std::uint64_t started);
    RunStatus give_up();
    void govern(std::uint64_t now);
    void close_window(std::uint64_t now);
    void look_at_bench(std::uint64_t now);
    void empty_bench();
    void apply_spin() noexcept;

    /// Computes a claimed chunk and counts it.
    void compute_chunk(std::uint32_t epoch, const Claim& claim, std::uint32_t thread_index) {
        Policy::at(Point::claimed, thread_index);
        const Phase& phase = claims_.phase(claim.phase);
        phase.function(phase.context, claim.chunk, thread_index);
        const std::uint32_t done = claims_.finish(epoch);
        // Exactly one finisher sees each end. Beyond finish() the epoch may be over: target() is then another one's,
        // and the notification is spurious, which waiters bear.
        if (done == claim.phase_end || done == claims_.target()) phase_gate_.notify();
    }

    bool epoch_complete(std::uint32_t epoch) const noexcept { return claims_.reached(epoch, claims_.target()); }

    /// The pool whose chunk the calling thread is in.
    static inline thread_local const PoolCore* inside_ = nullptr;

    const PoolOptions options_;
    typename Policy::Claims claims_;
    Gate gate_;
    PhaseGate phase_gate_;
    std::vector<std::unique_ptr<Worker>> workers_;
    std::atomic<std::uint32_t> exited_{0};
    std::atomic<std::uint32_t> benched_{0};
    std::atomic<bool> crowded_{false};

    /// Where benched workers sit: publishes do not wake them, as they count as no sleepers.
    std::mutex bench_mutex_;
    std::condition_variable bench_condition_;

    // Below: the host's, under the mutex; the atomics are read by stats().
    alignas(kCacheLine) mutable std::mutex host_mutex_;
    std::uint32_t epoch_ = 0;
    Governor governor_;
    std::vector<Governor::Share> shares_;
    std::uint64_t window_chunks_ = 0;
    std::uint64_t window_busy_ns_ = 0;
    std::uint64_t waited_ns_ = 0;
    std::uint64_t host_switches_ = 0;
    std::thread::id host_thread_;
    std::string diagnosis_;
    std::atomic<std::uint64_t> configured_spin_ns_{0};
    std::atomic<std::uint64_t> jobs_{0};
    std::atomic<std::uint64_t> host_ns_{0};
    std::atomic<std::uint64_t> host_wait_ns_{0};
    std::atomic<std::uint64_t> probes_{0};
    std::atomic<std::uint64_t> lost_ns_{0};
};

template <class Policy>
PoolStats PoolCore<Policy>::stats() const {
    // Relaxed throughout: each number is whole in itself, and none promises anything about another.
    constexpr auto relaxed = std::memory_order_relaxed;
    PoolStats stats{};
    stats.epoch = gate_.epoch();
    stats.jobs = jobs_.load(relaxed);
    stats.sleepers = gate_.sleepers();
    stats.threads = threads();
    stats.spin_ns = configured_spin_ns_.load(relaxed);
    stats.host_ns = host_ns_.load(relaxed);
    stats.host_wait_ns = host_wait_ns_.load(relaxed);
    stats.governor = {benched_.load(relaxed), probes_.load(relaxed), lost_ns_.load(relaxed), gate_.spin_ns()};
    stats.workers.reserve(workers_.size());
    for (const auto& worker : workers_) {
        const WorkerClock::Times times = worker->clock.read();
        const auto total = [&](WorkerState state) { return times.total_ns[static_cast<std::uint32_t>(state)]; };
        const std::uint64_t wakes = worker->wakes.load(relaxed);
        stats.wakes += wakes;
        stats.workers.push_back({worker->thread_index, times.state, worker->benched.load(relaxed), times.in_state_ns,
                                 total(WorkerState::computing), total(WorkerState::spinning),
                                 total(WorkerState::asleep), cpu_time_ns(worker->thread), wakes,
                                 worker->chunks.load(relaxed)});
    }
    return stats;
}

}  // namespace dormouse

#include "pool-core-host.h"
#include "pool-core-worker.h"
