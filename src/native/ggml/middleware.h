#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "gpu-devices.h"
#include "tables.h"

namespace dormouse {

struct InstallOptions {
    /// Which llama.cpp: "", "cuda", "vulkan", "metal"; nothing for the only one that is loaded.
    std::optional<std::string> gpu;
    PoolRequest pool;
};

struct MiddlewareStats {
    bool installed = false;
    /// Registries that are patched now, by file name.
    std::vector<std::string> registries;
    std::size_t backends = 0;
    std::optional<PoolStats> pool;
    /// Hits of the contexts there are: [layer][expert].
    std::vector<std::vector<std::uint64_t>> expert_hits;
};

/// The pool inside llama.cpp: one pool for the process, any number of registries.
class Middleware {
 public:
    /// The one of this process. Never destroyed: at exit other threads may still compute.
    static Middleware& instance();

    /// Installs on one registry, or changes the pool if it is installed there. The reason why not, if not; then
    /// everything is as before and llama.cpp computes by itself.
    std::optional<std::string> install(const InstallOptions& options);
    /// From all registries and graphics devices. False: something still runs; see Registry::uninstall.
    bool uninstall(std::uint64_t limit_ns = 60'000'000'000);
    /// Changes the pool of all registries; graphs under way finish on the old one. Only the spin time if the rest is
    /// equal.
    void configure(const PoolRequest& request);
    PoolRequest request() const;

    /// All graphs end at the next chunk or node with GGML_STATUS_ABORTED, and none begins, until `clear_stop`.
    void request_stop() { shared_.stop.store(true, std::memory_order_relaxed); }
    void clear_stop() { shared_.stop.store(false, std::memory_order_relaxed); }
    bool stop_requested() const { return shared_.stop.load(std::memory_order_relaxed); }
    /// Whether expert FFNs are computed as units (as ever) or node by node (for comparison).
    void set_fuse(bool fuse) { shared_.fuse.store(fuse, std::memory_order_relaxed); }

    /// The graphics devices of one llama.cpp (as in InstallOptions), or why they cannot be looked at. With or without
    /// the pool. They live as long as the process.
    std::variant<GpuDevices*, BindingFailure> gpu_devices(const std::optional<std::string>& gpu);

    MiddlewareStats stats() const;
    const Counters& counters() const { return shared_.counters; }

 private:
    void ensure_pool(const PoolRequest& request);

    Shared shared_;
    mutable std::mutex mutex_;
    PoolRequest request_;
    SharedPool pool_;
    std::vector<Registry*> registries_;
    struct Gpus {
        std::string path;
        GpuDevices* devices;
    };
    std::vector<Gpus> gpus_;
};

}  // namespace dormouse
