#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "evaluator.h"

namespace dormouse {

/// One ggml registry with its tables patched, or as they were.
///
/// Made once per registry and never destroyed: contexts keep pointers that get_proc_address gave them, and these lead
/// here for as long as the process lives. Everything that costs memory or threads goes with `uninstall`.
class Registry {
 public:
    Registry(std::string path, const Binding& binding, Shared& shared);
    Registry(const Registry&) = delete;
    Registry& operator=(const Registry&) = delete;

    const std::string& path() const { return path_; }
    const Binding& binding() const { return binding_; }
    bool installed() const { return active_.load(std::memory_order_seq_cst); }

    /// Contexts made from now on compute on `pool`. Does nothing but change the pool if it is installed.
    void install(SharedPool pool);
    /// Restores the tables, also of the backends there are, and waits for graphs under way. False: one did not end
    /// within `limit_ns` or a worker hangs; then everything stays allocated, but nothing new comes in.
    bool uninstall(std::uint64_t limit_ns);
    std::size_t backends() const;
    void add_hits(std::vector<std::vector<std::uint64_t>>& hits) const;

    /// The registry of a device, or null; for the functions that ggml calls.
    static Registry* of(ggml_backend_dev_t device);
    static Registry* of(ggml_backend_reg_t registry);

 private:
    friend struct Wrappers;
    /// Lets graphs in while installed; see enter().
    bool enter();
    void leave();
    std::shared_ptr<Evaluator> evaluator_of(ggml_backend_t backend) const;
    void add_backend(ggml_backend_t backend);
    std::shared_ptr<Evaluator> remove_backend(ggml_backend_t backend);
    SharedPool pool() const;

    const std::string path_;
    const Binding binding_;
    Shared& shared_;
    const decltype(ggml_backend_device_i::init_backend) original_init_;
    const decltype(ggml_backend_reg_i::get_proc_address) original_proc_;

    std::atomic<bool> active_{false};
    std::atomic<std::uint32_t> inside_{0};

    mutable std::mutex mutex_;
    std::condition_variable left_;
    SharedPool pool_;
    std::unique_ptr<GgmlThreads> threads_;
    struct Entry {
        ggml_backend_t backend;
        std::shared_ptr<Evaluator> evaluator;
    };
    std::vector<Entry> entries_;
    /// Kept for ever because a worker may still be in them.
    std::vector<std::shared_ptr<Evaluator>> lost_;
};

}  // namespace dormouse
