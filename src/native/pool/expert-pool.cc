#include "expert-pool.h"

#include <algorithm>
#include <cmath>

namespace dormouse {

template class PoolCore<ProductionPolicy>;

PoolOptions plan_pool(const PoolRequest& request, const Topology& topology) {
    const bool performance_only = request.affinity == Affinity::performance_cores;
    std::vector<std::uint32_t> cpus;
    for (const Core& core : topology.cores) {
        if (core.performance || !performance_only) cpus.push_back(core.cpu);
    }
    std::uint64_t usable = std::max<std::size_t>(1, cpus.size());
    // A quota is CPU time, not a place: rounded up, since half a core more is still no reason for threads to collide.
    if (topology.quota)
        usable = std::min(usable, static_cast<std::uint64_t>(std::max(1.0, std::ceil(*topology.quota))));

    PoolOptions options;
    options.threads = request.threads > 0 ? request.threads : auto_threads(topology, performance_only);
    options.spin_ns = request.spin_ns;
    options.govern = request.govern;
    options.oversubscribed = options.threads > usable;
    // One thread per core, or none at all: threads that share a core by our own doing would only wait for each other.
    if (request.affinity != Affinity::off && options.threads > 1 && options.threads <= cpus.size()) {
        cpus.resize(options.threads);
        options.cpus = cpus;
    }
    return options;
}

}  // namespace dormouse
