#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>

#include "claims.h"
#include "pool-core.h"
#include "topology.h"

namespace dormouse {

struct ProductionPolicy {
    using Claims = TaggedClaims;
    using Mutex = std::mutex;
    using Condition = std::condition_variable;
    enum class Point : std::uint8_t { before_sleep, woken, claimed };
    /// Where tests hold threads. Nothing here.
    static void at(Point, std::uint32_t = 0) noexcept {}
};

extern template class PoolCore<ProductionPolicy>;
using ExpertPool = PoolCore<ProductionPolicy>;

enum class Affinity : std::uint8_t { off, automatic, performance_cores };

/// What a person asks for.
struct PoolRequest {
    /// Host and workers; 0 chooses by the machine.
    std::uint32_t threads = 0;
    Affinity affinity = Affinity::automatic;
    std::uint64_t spin_ns = kSpinBeforeSleep;
    /// False: what others do on the machine changes neither who computes nor, with that, how sums round.
    bool govern = true;
};

/// Turns a wish into options for a machine: how many threads, and on which cores.
PoolOptions plan_pool(const PoolRequest& request, const Topology& topology);

/// Makes the calling thread a host while it lives: keeps it on the host's core, apart from the workers, and lets it go
/// as it came. Once around a whole graph, not around each run.
class HostScope {
 public:
    explicit HostScope(const ExpertPool& pool) noexcept {
        if (const int cpu = pool.host_cpu(); cpu >= 0) pin_.emplace(static_cast<std::uint32_t>(cpu));
    }

 private:
    std::optional<ScopedPin> pin_;
};

}  // namespace dormouse
