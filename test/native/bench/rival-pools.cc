#include "rival-pools.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "spin-wait.h"
#include "thread-control.h"

namespace {

/// What they share: chunks handed out by a counter, and a count of workers that have gone out again.
class Base : public RivalPool {
 public:
    Base(std::uint32_t threads, const std::vector<std::uint32_t>& cpus) : workers_(threads - 1), cpus_(cpus) {}

    void run(dormouse::ChunkFunction function, void* context, std::uint32_t chunks) final {
        function_ = function;
        context_ = context;
        chunks_ = chunks;
        next_.store(0, std::memory_order_relaxed);
        gone_out_.store(0, std::memory_order_relaxed);
        publish();
        compute(0);
        await_workers();
    }

 protected:
    void start() {
        for (std::uint32_t index = 1; index <= workers_; ++index) {
            threads_.emplace_back([this, index] {
                if (index < cpus_.size()) dormouse::pin_this_thread(cpus_[index]);
                for (std::uint32_t seen = 0;;) {
                    seen = await_epoch(seen);
                    if (stop_.load()) return;
                    compute(index);
                    go_out();
                }
            });
        }
    }
    void finish() {
        stop_.store(true);
        publish();
        for (std::thread& thread : threads_) thread.join();
    }
    void compute(std::uint32_t index) {
        for (std::uint32_t chunk; (chunk = next_.fetch_add(1)) < chunks_;) function_(context_, chunk, index);
    }
    virtual void publish() = 0;
    virtual std::uint32_t await_epoch(std::uint32_t seen) = 0;
    virtual void go_out() = 0;
    virtual void await_workers() = 0;

    const std::uint32_t workers_;
    const std::vector<std::uint32_t> cpus_;
    dormouse::ChunkFunction function_ = nullptr;
    void* context_ = nullptr;
    std::uint32_t chunks_ = 0;
    alignas(dormouse::kCacheLine) std::atomic<std::uint32_t> next_{0};
    alignas(dormouse::kCacheLine) std::atomic<std::uint32_t> gone_out_{0};
    alignas(dormouse::kCacheLine) std::atomic<std::uint32_t> epoch_{0};
    std::atomic<bool> stop_{false};
    std::vector<std::thread> threads_;
};

class SpinPool final : public Base {
 public:
    SpinPool(std::uint32_t threads, const std::vector<std::uint32_t>& cpus) : Base(threads, cpus) { start(); }
    ~SpinPool() override { finish(); }

 private:
    void publish() override { epoch_.fetch_add(1); }
    std::uint32_t await_epoch(std::uint32_t seen) override {
        std::uint32_t now;
        while ((now = epoch_.load()) == seen) dormouse::cpu_pause();
        return now;
    }
    void go_out() override { gone_out_.fetch_add(1); }
    void await_workers() override {
        while (gone_out_.load() < workers_) dormouse::cpu_pause();
    }
};

class AtomicWaitPool final : public Base {
 public:
    AtomicWaitPool(std::uint32_t threads, const std::vector<std::uint32_t>& cpus) : Base(threads, cpus) { start(); }
    ~AtomicWaitPool() override { finish(); }

 private:
    void publish() override {
        epoch_.fetch_add(1);
        epoch_.notify_all();
    }
    std::uint32_t await_epoch(std::uint32_t seen) override {
        epoch_.wait(seen);
        return epoch_.load();
    }
    void go_out() override {
        if (gone_out_.fetch_add(1) + 1 == workers_) gone_out_.notify_all();
    }
    void await_workers() override {
        for (std::uint32_t gone; (gone = gone_out_.load()) < workers_;) gone_out_.wait(gone);
    }
};

class CondvarPool final : public Base {
 public:
    CondvarPool(std::uint32_t threads, const std::vector<std::uint32_t>& cpus) : Base(threads, cpus) { start(); }
    ~CondvarPool() override { finish(); }

 private:
    void publish() override {
        const std::lock_guard<std::mutex> lock(mutex_);
        epoch_.fetch_add(1);
        work_.notify_all();
    }
    std::uint32_t await_epoch(std::uint32_t seen) override {
        std::unique_lock<std::mutex> lock(mutex_);
        work_.wait(lock, [&] { return epoch_.load() != seen; });
        return epoch_.load();
    }
    void go_out() override {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (gone_out_.fetch_add(1) + 1 == workers_) done_.notify_all();
    }
    void await_workers() override {
        std::unique_lock<std::mutex> lock(mutex_);
        done_.wait(lock, [&] { return gone_out_.load() >= workers_; });
    }
    std::mutex mutex_;
    std::condition_variable work_;
    std::condition_variable done_;
};

}  // namespace

std::unique_ptr<RivalPool> make_rival(const std::string& kind, std::uint32_t threads,
                                      const std::vector<std::uint32_t>& cpus) {
    if (kind == "spin") return std::make_unique<SpinPool>(threads, cpus);
    if (kind == "atomic-wait") return std::make_unique<AtomicWaitPool>(threads, cpus);
    if (kind == "condvar") return std::make_unique<CondvarPool>(threads, cpus);
    return nullptr;
}
