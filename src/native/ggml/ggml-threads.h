#pragma once

#include <mutex>

#include "binding.h"

namespace dormouse {

/// ggml's own threads for large nodes: one pool per registry that lives on, instead of one made and joined at every
/// graph. Its threads block while idle (poll 0) and are paused between uses.
class GgmlThreads {
 public:
    explicit GgmlThreads(const Binding& binding) : binding_(binding) {}
    GgmlThreads(const GgmlThreads&) = delete;
    GgmlThreads& operator=(const GgmlThreads&) = delete;
    ~GgmlThreads();

    /// The pool for one graph at a time: a ggml thread pool serves a single caller.
    class Lease {
     public:
        ggml_threadpool_t threads() const noexcept { return threads_; }

     private:
        friend class GgmlThreads;
        Lease(std::unique_lock<std::mutex> lock, ggml_threadpool_t threads)
            : lock_(std::move(lock)), threads_(threads) {}
        std::unique_lock<std::mutex> lock_;
        ggml_threadpool_t threads_;
    };
    /// With at least `count` threads, the caller's included. May make threads: not while the caller is pinned, since
    /// new threads inherit its cores; `ensure` before that.
    Lease lease(int count);
    void ensure(int count);
    /// Called by whoever used a lease, before it ends.
    void pause(const Lease& lease);

 private:
    void grow(int count);

    const Binding& binding_;
    std::mutex mutex_;
    ggml_threadpool_t threads_ = nullptr;
    int count_ = 0;
};

}  // namespace dormouse
