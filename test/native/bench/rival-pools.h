#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "job.h"

/// The usual ways to build a thread pool, for comparison on the same jobs. In all of them every worker has to come in
/// and go out of each epoch, which is the simplest way not to mix epochs up.
class RivalPool {
 public:
    virtual ~RivalPool() = default;
    virtual void run(dormouse::ChunkFunction function, void* context, std::uint32_t chunks) = 0;
};

/// `kind`: "atomic-wait" (std::atomic::wait), "condvar" (mutex and condition variable), "spin" (waits by spinning
/// only). Null for another kind. `cpus` as in PoolOptions.
std::unique_ptr<RivalPool> make_rival(const std::string& kind, std::uint32_t threads,
                                      const std::vector<std::uint32_t>& cpus);
