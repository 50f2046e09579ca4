#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "expert-pool.h"
#include "ggml-threads.h"
#include "governor.h"
#include "phases.h"
#include "plan.h"

namespace dormouse {

using SharedPool = std::shared_ptr<ExpertPool>;

/// What all evaluators of the process share.
struct Shared {
    Counters counters;
    std::atomic<bool> stop{false};
    std::atomic<bool> fuse{true};
    /// Hosts inside graphs now. Only the first of several is pinned: two on one core would take turns.
    std::atomic<std::uint32_t> hosts{0};
};

/// Computes the graphs of one CPU backend, that is, of one context: on the pool what the pool can, the rest with the
/// backend's original function. One thread at a time, as ggml demands of a backend.
class Evaluator {
 public:
    using Original = ggml_status (*)(ggml_backend_t, ggml_cgraph*);

    Evaluator(const Binding& binding, Shared& shared, GgmlThreads& threads, ggml_backend_t backend);
    Evaluator(const Evaluator&) = delete;
    Evaluator& operator=(const Evaluator&) = delete;
    ~Evaluator();

    ggml_status compute(ggml_cgraph* graph, const SharedPool& pool);
    /// The backend as it was, for graphs without us: the user's threads and callback, no pool of ours.
    void hand_back();
    /// Waits until no worker holds anything of this evaluator. False: one hangs, and nothing may be freed.
    bool quiesce();

    // What llama.cpp sets on the backend, observed.
    void set_n_threads(int count) { user_threads_.store(count, std::memory_order_relaxed); }
    void set_threadpool(ggml_threadpool_t pool) { user_pool_.store(pool, std::memory_order_relaxed); }
    void set_abort_callback(ggml_abort_callback callback, void* data);

    Original original() const { return original_; }
    decltype(ggml_backend_i::free) original_free() const { return original_free_; }
    /// Adds this context's hits: hits[layer][expert].
    void add_hits(std::vector<std::vector<std::uint64_t>>& hits) const;

 private:
    struct Epoch;

    Plan& plan_for(const ggml_cgraph* graph);
    void prepare(const Plan& plan);
    ggml_status run_step(const Plan& plan, Step& step, ggml_cgraph* graph);
    ggml_status run_original(const Step& step, ggml_cgraph* graph);
    /// With ggml's threads, unless they have cost more than they brought lately.
    ggml_status run_medium(Step& step, ggml_cgraph* graph);
    ggml_status run_alone(ggml_cgraph* graph);
    ggml_status run_on_threads(ggml_cgraph* graph);
    ggml_status run_product(const Step& step, ggml_cgraph* graph);
    ggml_status run_unit(const FfnUnit& unit, ggml_cgraph* graph);
    ggml_status publish(const Phase* phases, std::uint32_t count, std::uint64_t weight_bytes);
    bool assign_groups(const ggml_tensor* product);
    /// Fills in the conversion of a product's input; false when the floats are used as they are.
    bool set_up_convert(ConvertPhase& convert, const ggml_tensor* product);
    void set_up_weights(DotPart& part, const ggml_tensor* product) const;
    void set_up_input(DotPart& part, const ggml_tensor* product, bool converted) const;
    void set_up_output(DotPart& part, const ggml_tensor* result) const;
    static void set_up_corrections(DotPart& part, const ExpertProduct& product);
    void set_up_activation(const FfnUnit& unit, const ggml_cgraph* graph, const ggml_tensor* down);
    void set_up_down(const FfnUnit& unit, const ggml_cgraph* graph, std::int64_t slots);
    /// Conversion of few rows happens on the spot; otherwise it becomes the first phase.
    std::uint32_t add_convert(Phase* phases, bool wanted);
    void count_hits(const ggml_tensor* weights);
    bool stop_requested() const;
    static bool abort_callback(void* self);

    const Binding& binding_;
    Shared& shared_;
    GgmlThreads& threads_;
    const ggml_backend_t backend_;
    const Original original_;
    const decltype(ggml_backend_i::free) original_free_;
    /// A ggml thread pool of the caller alone, so that small runs wake nobody.
    ggml_threadpool_t solo_ = nullptr;

    std::atomic<int> user_threads_{GGML_DEFAULT_N_THREADS};
    std::atomic<ggml_threadpool_t> user_pool_{nullptr};
    /// The callback is published after its data.
    std::atomic<ggml_abort_callback> user_abort_{nullptr};
    std::atomic<void*> user_abort_data_{nullptr};

    // The host's, from here on.
    /// ggml's threads, all of them as if they were one worker: at its barriers everybody waits for the latest. Slower to
    /// judge than the pool's: a run here is as long as hundreds of the pool's chunks.
    Governor threads_governor_{1, 64'000'000};
    std::unordered_map<std::uint64_t, Plan> plans_;
    std::deque<std::uint64_t> plan_order_;
    Plan unnamed_plan_;
    SharedPool pool_;
    ActivationLanes lanes_;
    std::unique_ptr<Epoch> epoch_;
    /// A run was given up as stalled: a worker may still be in our memory, so nothing runs there until it is quiet.
    SharedPool stalled_pool_;

    mutable std::mutex hits_mutex_;
    /// Layers only get added, under the mutex; counting needs none.
    std::deque<std::unique_ptr<std::vector<std::atomic<std::uint64_t>>>> hits_;
};

}  // namespace dormouse
