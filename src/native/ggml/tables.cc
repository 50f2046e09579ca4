#include "tables.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <exception>
#include <new>

#include "patch.h"

namespace dormouse {

namespace {

constexpr std::size_t kMostRegistries = 8;
std::array<std::atomic<Registry*>, kMostRegistries> known_registries{};

void announce(Registry* registry) {
    for (auto& slot : known_registries) {
        Registry* empty = nullptr;
        if (slot.compare_exchange_strong(empty, registry, std::memory_order_acq_rel)) return;
    }
}

template <class Matches>
Registry* find_known(Matches&& matches) {
    for (const auto& slot : known_registries) {
        Registry* registry = slot.load(std::memory_order_acquire);
        if (registry == nullptr) return nullptr;
        if (matches(*registry)) return registry;
    }
    return nullptr;
}

ggml_backend_buffer_type_t* no_extra_buffer_types(ggml_backend_dev_t) {
    static ggml_backend_buffer_type_t none[1] = {nullptr};
    return none;
}

}  // namespace

/// The functions that ggml finds in its tables instead of its own.
struct Wrappers {
    static ggml_backend_t init_backend(ggml_backend_dev_t device, const char* params) {
        Registry& registry = *Registry::of(device);
        const ggml_backend_t backend = registry.original_init_(device, params);
        // No exception may cross ggml's C frames. Without memory for us the context is a stock one.
        try {
            if (backend != nullptr && registry.installed()) registry.add_backend(backend);
        } catch (const std::exception&) {
        }
        return backend;
    }

    static ggml_status graph_compute(ggml_backend_t backend, ggml_cgraph* graph) {
        try {
            return compute(backend, graph);
        } catch (const std::bad_alloc&) {
            return GGML_STATUS_ALLOC_FAILED;
        } catch (const std::exception&) {
            return GGML_STATUS_FAILED;
        }
    }

    /// Counts a graph as being inside for as long as it lives.
    struct Entered {
        explicit Entered(Registry& registry) : registry(registry), entered(registry.enter()) {}
        Entered(const Entered&) = delete;
        Entered& operator=(const Entered&) = delete;
        ~Entered() {
            if (entered) registry.leave();
        }
        Registry& registry;
        const bool entered;
    };

    static ggml_status compute(ggml_backend_t backend, ggml_cgraph* graph) {
        Registry& registry = *Registry::of(backend->device);
        const Entered inside(registry);
        const std::shared_ptr<Evaluator> evaluator = registry.evaluator_of(backend);
        const SharedPool pool = registry.pool();
        if (inside.entered && evaluator != nullptr && pool != nullptr) return evaluator->compute(graph, pool);
        if (evaluator != nullptr) return evaluator->original()(backend, graph);
        // Uninstalled between the caller's look at the table and now.
        return backend->iface.graph_compute == graph_compute ? GGML_STATUS_FAILED
                                                             : backend->iface.graph_compute(backend, graph);
    }

    static void free_backend(ggml_backend_t backend) {
        Registry& registry = *Registry::of(backend->device);
        const std::shared_ptr<Evaluator> evaluator = registry.remove_backend(backend);
        if (evaluator == nullptr) {
            if (backend->iface.free != free_backend) backend->iface.free(backend);
            return;
        }
        const auto original = evaluator->original_free();
        evaluator->hand_back();
        original(backend);
    }

    static void set_n_threads(ggml_backend_t backend, int count) {
        Registry& registry = *Registry::of(backend->device);
        if (const auto evaluator = registry.evaluator_of(backend)) return evaluator->set_n_threads(count);
        registry.binding_.set_n_threads(backend, count);
    }

    static void set_threadpool(ggml_backend_t backend, ggml_threadpool_t threads) {
        Registry& registry = *Registry::of(backend->device);
        if (const auto evaluator = registry.evaluator_of(backend)) return evaluator->set_threadpool(threads);
        registry.binding_.set_threadpool(backend, threads);
    }

    static void set_abort_callback(ggml_backend_t backend, ggml_abort_callback callback, void* data) {
        Registry& registry = *Registry::of(backend->device);
        if (const auto evaluator = registry.evaluator_of(backend)) return evaluator->set_abort_callback(callback, data);
        registry.binding_.set_abort_callback(backend, callback, data);
    }

    static void* get_proc_address(ggml_backend_reg_t reg, const char* name) {
        Registry& registry = *Registry::of(reg);
        if (registry.installed()) {
            const auto is = [name](const char* other) { return std::strcmp(name, other) == 0; };
            // Asked at every model load: weights keep their plain layout and stay memory-mapped.
            if (is("ggml_backend_dev_get_extra_bufts")) return reinterpret_cast<void*>(no_extra_buffer_types);
            if (is("ggml_backend_set_n_threads")) return reinterpret_cast<void*>(set_n_threads);
            if (is("ggml_backend_cpu_set_threadpool")) return reinterpret_cast<void*>(set_threadpool);
            if (is("ggml_backend_set_abort_callback")) return reinterpret_cast<void*>(set_abort_callback);
        }
        return registry.original_proc_(reg, name);
    }
};

Registry::Registry(std::string path, const Binding& binding, Shared& shared)
    : path_(std::move(path)),
      binding_(binding),
      shared_(shared),
      original_init_(binding.cpu_device->iface.init_backend),
      original_proc_(binding.cpu_registry->iface.get_proc_address) {
    announce(this);
}

Registry* Registry::of(ggml_backend_dev_t device) {
    return find_known([device](const Registry& registry) { return registry.binding_.cpu_device == device; });
}

Registry* Registry::of(ggml_backend_reg_t reg) {
    return find_known([reg](const Registry& registry) { return registry.binding_.cpu_registry == reg; });
}

// A graph enters by counting itself and then looking at `active_`; uninstall clears `active_` and then looks at the
// count. Both are sequentially consistent, so in their single order one of the two sees the other: either the graph
// finds itself too late and passes through to ggml, or uninstall finds the graph and waits for it. Nothing that a graph
// uses can therefore be freed under it.
bool Registry::enter() {
    inside_.fetch_add(1, std::memory_order_seq_cst);
    if (active_.load(std::memory_order_seq_cst)) return true;
    leave();
    return false;
}

void Registry::leave() {
    if (inside_.fetch_sub(1, std::memory_order_seq_cst) != 1 || active_.load(std::memory_order_seq_cst)) return;
    // The mutex, so that the waiter is not between its look at the count and its wait.
    const std::lock_guard<std::mutex> lock(mutex_);
    left_.notify_all();
}

std::shared_ptr<Evaluator> Registry::evaluator_of(ggml_backend_t backend) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const Entry& entry : entries_) {
        if (entry.backend == backend) return entry.evaluator;
    }
    return nullptr;
}

SharedPool Registry::pool() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return pool_;
}

std::size_t Registry::backends() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return entries_.size();
}

void Registry::add_hits(std::vector<std::vector<std::uint64_t>>& hits) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const Entry& entry : entries_) entry.evaluator->add_hits(hits);
}

void Registry::add_backend(ggml_backend_t backend) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (threads_ == nullptr) return;
    entries_.push_back({backend, std::make_shared<Evaluator>(binding_, shared_, *threads_, backend)});
    // Nobody else knows this backend yet.
    backend->iface.free = Wrappers::free_backend;
    backend->iface.graph_compute = Wrappers::graph_compute;
}

/// For a context that is freed: its graphs have ended, but a worker of a stalled run may still be in its memory.
std::shared_ptr<Evaluator> Registry::remove_backend(ggml_backend_t backend) {
    std::shared_ptr<Evaluator> evaluator;
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        const auto found = std::find_if(entries_.begin(), entries_.end(),
                                        [&](const Entry& entry) { return entry.backend == backend; });
        if (found == entries_.end()) return nullptr;
        evaluator = found->evaluator;
        entries_.erase(found);
    }
    if (!evaluator->quiesce()) {
        const std::lock_guard<std::mutex> lock(mutex_);
        lost_.push_back(evaluator);
    }
    return evaluator;
}

void Registry::install(SharedPool pool) {
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        pool_ = std::move(pool);
        if (threads_ == nullptr) threads_ = std::make_unique<GgmlThreads>(binding_);
    }
    active_.store(true, std::memory_order_seq_cst);
    patch(binding_.cpu_device->iface.init_backend, &Wrappers::init_backend);
    patch(binding_.cpu_registry->iface.get_proc_address, &Wrappers::get_proc_address);
}

bool Registry::uninstall(std::uint64_t limit_ns) {
    patch(binding_.cpu_device->iface.init_backend, original_init_);
    patch(binding_.cpu_registry->iface.get_proc_address, original_proc_);
    active_.store(false, std::memory_order_seq_cst);
    std::unique_lock<std::mutex> lock(mutex_);
    const bool quiet = left_.wait_for(lock, std::chrono::nanoseconds(limit_ns),
                                      [this] { return inside_.load(std::memory_order_seq_cst) == 0; });
    if (!quiet) return false;
    bool all_quiet = true;
    for (const Entry& entry : entries_) {
        if (!entry.evaluator->quiesce()) {
            all_quiet = false;
            lost_.push_back(entry.evaluator);
        }
        entry.evaluator->hand_back();
        patch(entry.backend->iface.graph_compute, entry.evaluator->original());
        patch(entry.backend->iface.free, entry.evaluator->original_free());
    }
    entries_.clear();
    if (all_quiet) {
        threads_.reset();
        pool_.reset();
    }
    return all_quiet;
}

}  // namespace dormouse
