#pragma once

#include <cstdint>
#include <vector>

#include "worker-clock.h"

namespace dormouse {

/// A copy of the pool's counters; times in nanoseconds since the pool was made.
struct WorkerStats {
    /// As in the thread's name; the host is 0 and not listed.
    std::uint32_t id;
    WorkerState state;
    bool benched;
    std::uint64_t in_state_ns;
    std::uint64_t busy_ns;
    std::uint64_t spin_ns;
    std::uint64_t asleep_ns;
    /// CPU time of the thread as the system counts it.
    std::uint64_t cpu_ns;
    std::uint64_t wakes;
    std::uint64_t chunks;
};

struct GovernorStats {
    /// Workers taken out because others need their cores.
    std::uint32_t benched;
    /// Rehearsals of benched workers, passed or not.
    std::uint64_t probes;
    /// Host time lost waiting for workers that had lost their core.
    std::uint64_t lost_ns;
    /// The spin budget in force: the configured one, or less while the machine is oversubscribed.
    std::uint64_t spin_ns;
};

struct PoolStats {
    std::uint64_t epoch;
    /// Chunks finished in all epochs, by host and workers.
    std::uint64_t jobs;
    std::uint32_t sleepers;
    std::uint64_t wakes;
    std::uint32_t threads;
    std::uint64_t spin_ns;
    /// Host time inside epochs, and the part of it spent waiting for workers.
    std::uint64_t host_ns;
    std::uint64_t host_wait_ns;
    GovernorStats governor;
    std::vector<WorkerStats> workers;
};

}  // namespace dormouse
