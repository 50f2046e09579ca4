#include "evaluator.h"

#include <algorithm>

#include "evaluator-epoch.h"
#include "tensors.h"

namespace dormouse {

namespace {

/// Graphs of a context that are remembered: decode and prefill shapes, each with a split per layer when a GPU takes
/// part.
constexpr std::size_t kMostPlans = 512;

/// Sets a pointer for the time of a graph: between graphs nobody keeps a pool alive that was replaced.
class ScopedPool {
 public:
    ScopedPool(SharedPool& slot, const SharedPool& pool) : slot_(slot) { slot_ = pool; }
    ScopedPool(const ScopedPool&) = delete;
    ScopedPool& operator=(const ScopedPool&) = delete;
    ~ScopedPool() { slot_.reset(); }

 private:
    SharedPool& slot_;
};

class HostCount {
 public:
    explicit HostCount(std::atomic<std::uint32_t>& hosts) : hosts_(hosts), first_(hosts.fetch_add(1) == 0) {}
    HostCount(const HostCount&) = delete;
    HostCount& operator=(const HostCount&) = delete;
    ~HostCount() { hosts_.fetch_sub(1); }
    bool is_first() const { return first_; }

 private:
    std::atomic<std::uint32_t>& hosts_;
    const bool first_;
};

}  // namespace

Evaluator::Evaluator(const Binding& binding, Shared& shared, GgmlThreads& threads, ggml_backend_t backend)
    : binding_(binding),
      shared_(shared),
      threads_(threads),
      backend_(backend),
      original_(backend->iface.graph_compute),
      original_free_(backend->iface.free),
      lanes_(binding),
      epoch_(std::make_unique<Epoch>()) {
    ggml_threadpool_params params;
    binding_.threadpool_params(&params, 1);
    params.poll = 0;
    solo_ = binding_.threadpool_new(&params);
    binding_.set_abort_callback(backend_, abort_callback, this);
}

Evaluator::~Evaluator() { binding_.threadpool_free(solo_); }

void Evaluator::hand_back() {
    binding_.set_threadpool(backend_, user_pool_.load(std::memory_order_relaxed));
    binding_.set_n_threads(backend_, user_threads_.load(std::memory_order_relaxed));
    const ggml_abort_callback callback = user_abort_.load(std::memory_order_acquire);
    binding_.set_abort_callback(backend_, callback, user_abort_data_.load(std::memory_order_relaxed));
}

/// A run that has completed leaves nobody in a chunk; only one that was given up may.
bool Evaluator::quiesce() {
    if (stalled_pool_ != nullptr && !stalled_pool_->quiesce()) return false;
    stalled_pool_.reset();
    return true;
}

void Evaluator::set_abort_callback(ggml_abort_callback callback, void* data) {
    user_abort_.store(nullptr, std::memory_order_relaxed);
    user_abort_data_.store(data, std::memory_order_relaxed);
    user_abort_.store(callback, std::memory_order_release);
}

bool Evaluator::stop_requested() const {
    if (shared_.stop.load(std::memory_order_relaxed)) return true;
    const ggml_abort_callback callback = user_abort_.load(std::memory_order_acquire);
    return callback != nullptr && callback(user_abort_data_.load(std::memory_order_relaxed));
}

/// ggml asks after each node of a run of its own.
bool Evaluator::abort_callback(void* self) { return static_cast<Evaluator*>(self)->stop_requested(); }

void Evaluator::add_hits(std::vector<std::vector<std::uint64_t>>& hits) const {
    const std::lock_guard<std::mutex> lock(hits_mutex_);
    if (hits.size() < hits_.size()) hits.resize(hits_.size());
    for (std::size_t layer = 0; layer < hits_.size(); ++layer) {
        if (hits_[layer] == nullptr) continue;
        const auto& counted = *hits_[layer];
        if (hits[layer].size() < counted.size()) hits[layer].resize(counted.size());
        for (std::size_t expert = 0; expert < counted.size(); ++expert) {
            hits[layer][expert] += counted[expert].load(std::memory_order_relaxed);
        }
    }
}

/// Plans are kept by the graph's identity, which ggml changes with the graph; 0 means that it has none. Never by
/// pointer: graphs are rebuilt at the addresses of former ones.
Plan& Evaluator::plan_for(const ggml_cgraph* graph) {
    const bool fuse = shared_.fuse.load(std::memory_order_relaxed);
    const auto known = graph->uid == 0 ? plans_.end() : plans_.find(graph->uid);
    if (known != plans_.end() && known->second.fused == fuse) return known->second;
    shared_.counters.plans.fetch_add(1, std::memory_order_relaxed);
    if (graph->uid == 0) return unnamed_plan_ = make_plan(binding_, graph, fuse);
    if (known != plans_.end()) return known->second = make_plan(binding_, graph, fuse);
    if (plan_order_.size() >= kMostPlans) {
        plans_.erase(plan_order_.front());
        plan_order_.pop_front();
    }
    plan_order_.push_back(graph->uid);
    return plans_.emplace(graph->uid, make_plan(binding_, graph, fuse)).first->second;
}

/// All memory and threads that the plan needs; grows only when a larger graph comes.
void Evaluator::prepare(const Plan& plan) {
    if (plan.uses_pool) {
        epoch_->reserve(plan.needs);
        lanes_.reserve(pool_->threads(), plan.needs.lane);
        const std::lock_guard<std::mutex> lock(hits_mutex_);
        while (hits_.size() < static_cast<std::size_t>(plan.layers)) hits_.push_back(nullptr);
        for (auto& layer : hits_) {
            if (layer == nullptr) layer = std::make_unique<std::vector<std::atomic<std::uint64_t>>>(plan.needs.experts);
        }
    }
    if (plan.uses_threads && user_pool_.load(std::memory_order_relaxed) == nullptr)
        threads_.ensure(user_threads_.load(std::memory_order_relaxed));
}

ggml_status Evaluator::compute(ggml_cgraph* graph, const SharedPool& pool) {
    if (stop_requested()) {
        shared_.counters.aborted.fetch_add(1, std::memory_order_relaxed);
        return GGML_STATUS_ABORTED;
    }
    const ScopedPool current(pool_, pool);
    if (stalled_pool_ != nullptr) {
        if (!stalled_pool_->quiesce(0)) return run_on_threads(graph);
        stalled_pool_.reset();
    }
    Plan& plan = plan_for(graph);
    prepare(plan);
    const HostCount host(shared_.hosts);
    std::optional<HostScope> pinned;
    if (plan.uses_pool && host.is_first()) pinned.emplace(*pool);
    for (Step& step : plan.steps) {
        ggml_status status = GGML_STATUS_ABORTED;
        if (!stop_requested()) status = run_step(plan, step, graph);
        if (status == GGML_STATUS_SUCCESS) continue;
        auto& counter = status == GGML_STATUS_ABORTED ? shared_.counters.aborted : shared_.counters.failed;
        counter.fetch_add(1, std::memory_order_relaxed);
        return status;
    }
    shared_.counters.graphs.fetch_add(1, std::memory_order_relaxed);
    shared_.counters.pool_nodes.fetch_add(plan.pool_nodes, std::memory_order_relaxed);
    shared_.counters.original_nodes.fetch_add(plan.original_nodes, std::memory_order_relaxed);
    return GGML_STATUS_SUCCESS;
}

ggml_status Evaluator::run_step(const Plan& plan, Step& step, ggml_cgraph* graph) {
    switch (step.kind) {
        case StepKind::dense:
        case StepKind::expert: return run_product(step, graph);
        case StepKind::unit: return run_unit(plan.units[step.unit], graph);
        case StepKind::original_medium: return run_medium(step, graph);
        case StepKind::original_small:
        case StepKind::original_large: break;
    }
    return run_original(step, graph);
}

ggml_status Evaluator::run_original(const Step& step, ggml_cgraph* graph) {
    ggml_cgraph view = binding_.graph_view(graph, step.begin, step.end);
    const bool large = step.kind == StepKind::original_large;
    const ScopedWork scope(shared_.counters, large ? Work::original_large : Work::original_small, 0);
    return large ? run_on_threads(&view) : run_alone(&view);
}

ggml_status Evaluator::run_medium(Step& step, ggml_cgraph* graph) {
    ggml_cgraph view = binding_.graph_view(graph, step.begin, step.end);
    const ScopedWork scope(shared_.counters, Work::original_large, 0);
    if (!pool_->governed()) return run_on_threads(&view);
    const std::uint64_t started = now_ns();
    if (threads_governor_.any_probe_due(started) && !pool_->crowded()) threads_governor_.take_back(0, started);
    if (threads_governor_.benched(0) || pool_->crowded()) return run_alone(&view);
    const ggml_status status = run_on_threads(&view);
    const std::uint64_t now = now_ns();
    const std::uint64_t spent = now - started;
    if (step.best_ns == 0 || spent < step.best_ns) step.best_ns = spent;
    if (spent - step.best_ns >= Governor::kLateNs) threads_governor_.on_late(0, spent - step.best_ns);
    // One thread would have taken that much more.
    const auto others = static_cast<std::uint64_t>(std::max(0, user_threads_.load(std::memory_order_relaxed) - 1));
    const Governor::Share share{1};
    threads_governor_.close_window(now, step.best_ns * others, &share);
    return status;
}

ggml_status Evaluator::run_alone(ggml_cgraph* graph) {
    binding_.set_threadpool(backend_, solo_);
    binding_.set_n_threads(backend_, 1);
    return original_(backend_, graph);
}

ggml_status Evaluator::run_on_threads(ggml_cgraph* graph) {
    // Spinning workers would fight ggml's threads for the cores.
    pool_->park();
    const int count = user_threads_.load(std::memory_order_relaxed);
    binding_.set_n_threads(backend_, count);
    ggml_status status = GGML_STATUS_FAILED;
    if (const ggml_threadpool_t users = user_pool_.load(std::memory_order_relaxed)) {
        binding_.set_threadpool(backend_, users);
        status = original_(backend_, graph);
    } else {
        const GgmlThreads::Lease lease = threads_.lease(count);
        binding_.set_threadpool(backend_, lease.threads());
        status = original_(backend_, graph);
        // Taking the pool off the backend also pauses it, before another context can take the lease.
        binding_.set_threadpool(backend_, solo_);
    }
    pool_->forget_switches();
    return status;
}

}  // namespace dormouse
