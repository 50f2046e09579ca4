#include "ggml-threads.h"

#include <algorithm>

namespace dormouse {

GgmlThreads::~GgmlThreads() {
    if (threads_ != nullptr) binding_.threadpool_free(threads_);
}

void GgmlThreads::grow(int count) {
    count = std::clamp(count, 1, GGML_MAX_N_THREADS);
    if (threads_ != nullptr && count_ >= count) return;
    if (threads_ != nullptr) binding_.threadpool_free(threads_);
    ggml_threadpool_params params;
    binding_.threadpool_params(&params, count);
    params.poll = 0;
    params.paused = true;
    threads_ = binding_.threadpool_new(&params);
    count_ = count;
}

void GgmlThreads::ensure(int count) {
    const std::lock_guard<std::mutex> lock(mutex_);
    grow(count);
}

GgmlThreads::Lease GgmlThreads::lease(int count) {
    std::unique_lock<std::mutex> lock(mutex_);
    grow(count);
    return {std::move(lock), threads_};
}

void GgmlThreads::pause(const Lease& lease) { binding_.threadpool_pause(lease.threads()); }

}  // namespace dormouse
