#include "middleware.h"

namespace dormouse {

Middleware& Middleware::instance() {
    static auto* const middleware = new Middleware;
    return *middleware;
}

void Middleware::ensure_pool(const PoolRequest& request) {
    const bool same = pool_ != nullptr && request.threads == request_.threads &&
                      request.affinity == request_.affinity && request.govern == request_.govern;
    if (same && request.spin_ns != request_.spin_ns) pool_->set_spin_ns(request.spin_ns);
    if (!same) {
        const PoolOptions options = plan_pool(request, read_topology(this_machine()));
        pool_ = SharedPool(ExpertPool::create(options).release(), ExpertPool::Destroy());
    }
    request_ = request;
}

std::optional<std::string> Middleware::install(const InstallOptions& options) {
    const std::lock_guard<std::mutex> lock(mutex_);
    auto found = find_registry(options.gpu);
    if (const auto* failure = std::get_if<BindingFailure>(&found)) return failure->reason;
    const Module& module = std::get<Module>(found);
    Registry* chosen = nullptr;
    for (Registry* registry : registries_) {
        if (registry->path() == module.path) chosen = registry;
    }
    if (chosen == nullptr) {
        auto bound = bind_registry(module);
        if (const auto* failure = std::get_if<BindingFailure>(&bound)) return failure->reason;
        stay_loaded();
        chosen = new Registry(module.path, std::get<Binding>(bound), shared_);
        if (Registry::of(chosen->binding().cpu_device) != chosen) return "too many builds of llama.cpp are loaded";
        registries_.push_back(chosen);
    }
    ensure_pool(options.pool);
    chosen->install(pool_);
    return std::nullopt;
}

bool Middleware::uninstall(std::uint64_t limit_ns) {
    const std::lock_guard<std::mutex> lock(mutex_);
    bool quiet = true;
    for (const Gpus& gpus : gpus_) gpus.devices->uninstall();
    for (Registry* registry : registries_) {
        if (!registry->uninstall(limit_ns)) quiet = false;
    }
    if (quiet) pool_.reset();
    return quiet;
}

std::variant<GpuDevices*, BindingFailure> Middleware::gpu_devices(const std::optional<std::string>& gpu) {
    const std::lock_guard<std::mutex> lock(mutex_);
    auto found = find_registry(gpu);
    if (const auto* failure = std::get_if<BindingFailure>(&found)) return *failure;
    const Module& module = std::get<Module>(found);
    for (const Gpus& gpus : gpus_) {
        if (gpus.path == module.path) return gpus.devices;
    }
    auto bound = bind_devices(module);
    if (const auto* failure = std::get_if<BindingFailure>(&bound)) return *failure;
    stay_loaded();
    const auto& [devices, tensor_bytes] = std::get<DeviceBinding>(bound);
    gpus_.push_back({module.path, new GpuDevices(devices, tensor_bytes)});
    return gpus_.back().devices;
}

void Middleware::configure(const PoolRequest& request) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (pool_ == nullptr) {
        request_ = request;
        return;
    }
    ensure_pool(request);
    for (Registry* registry : registries_) {
        if (registry->installed()) registry->install(pool_);
    }
}

PoolRequest Middleware::request() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return request_;
}

MiddlewareStats Middleware::stats() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    MiddlewareStats stats;
    for (const Registry* registry : registries_) {
        if (registry->installed()) stats.registries.push_back(registry->binding().registry);
        stats.backends += registry->backends();
        registry->add_hits(stats.expert_hits);
    }
    stats.installed = !stats.registries.empty();
    if (pool_ != nullptr) stats.pool = pool_->stats();
    return stats;
}

}  // namespace dormouse
