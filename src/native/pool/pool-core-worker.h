#pragma once

// The worker's side of PoolCore. Included by pool-core.h only.

namespace dormouse {

template <class Policy>
void PoolCore<Policy>::start_workers() {
    const std::uint32_t wanted = options_.threads > 0 ? options_.threads - 1 : 0;
    workers_.reserve(wanted);  // stats() and workers iterate while later ones start
    for (std::uint32_t index = 1; index <= wanted; ++index) workers_.push_back(std::make_unique<Worker>());
    for (std::uint32_t index = 1; index <= wanted; ++index) {
        Worker& worker = *workers_[index - 1];
        worker.thread_index = index;
        worker.clock.start(WorkerState::spinning);
        try {
            worker.thread = std::thread([this, &worker] { worker_main(worker); });
        } catch (const std::system_error&) {
            // The system's limit on threads. Fewer workers are no error: any number of them is enough.
            workers_.resize(index - 1);
            return;
        }
    }
}

/// Returns false if a worker hangs in a chunk; its thread and the pool then live on.
template <class Policy>
bool PoolCore<Policy>::end_workers() {
    const std::lock_guard<std::mutex> host(host_mutex_);
    gate_.stop();
    // Having held the mutex after stop(): a benched worker has either seen the flag or is inside wait() and notified.
    {
        const std::lock_guard<std::mutex> lock(bench_mutex_);
    }
    bench_condition_.notify_all();
    const std::uint64_t started = now_ns();
    const bool ended = phase_gate_.block(
        // Acquire is not needed: join() below synchronizes with everything the threads did.
        [&] { return exited_.load(std::memory_order_seq_cst) == workers_.size(); },
        [&] { return now_ns() - started >= options_.stall_limit_ns; }, std::chrono::milliseconds(1));
    for (const auto& worker : workers_) {
        if (ended) {
            worker->thread.join();
        } else {
            worker->thread.detach();
        }
    }
    return ended;
}

template <class Policy>
void PoolCore<Policy>::worker_main(Worker& worker) {
    name_worker_thread(worker.thread_index);
    if (worker.thread_index < options_.cpus.size()) pin_this_thread(options_.cpus[worker.thread_index]);
    inside_ = this;
    std::uint32_t seen = 0;
    for (;;) {
        typename Gate::Woken woken;
        // "Woken" and not "one further": a worker may sleep through any number of epochs, the host needs none of them.
        const auto on_gap = [&] {
            worker.gaps.store(worker.gaps.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
        };
        seen = gate_.wait(seen, woken, on_gap, [&] { worker.clock.enter(WorkerState::asleep); });
        if (woken == Gate::Woken::sleeping) {
            worker.clock.enter(WorkerState::spinning);
            worker.wakes.store(worker.wakes.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
        }
        if (gate_.stopping()) break;
        Policy::at(Point::woken, worker.thread_index);
        if (worker.benched.load(std::memory_order_relaxed)) {
            sit_out(worker);
        } else {
            take_part(worker, seen);
        }
        // Back to wait(), which begins with a whole new spin budget, also if everything had been claimed already: on a
        // fast layer most workers come too late, and sleeping then would make them late for the next one as well.
    }
    exited_.fetch_add(1, std::memory_order_seq_cst);
    phase_gate_.notify();
}

template <class Policy>
void PoolCore<Policy>::take_part(Worker& worker, std::uint32_t epoch) {
    // Relaxed: a worker that learns late that it is benched computes one chunk more.
    while (!worker.benched.load(std::memory_order_relaxed)) {
        const Claim claim = claims_.claim(epoch);
        if (claim.kind == Claim::Kind::nothing) break;
        if (claim.kind == Claim::Kind::gate_closed) {
            wait_at_gate(worker, epoch, claim.gate);
            continue;
        }
        worker.clock.enter(WorkerState::computing);
        // Before the chunk is counted as finished: the host reads it after that.
        worker.chunks.store(worker.chunks.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
        compute_chunk(epoch, claim, worker.thread_index);
    }
    worker.clock.enter(WorkerState::spinning);
}

/// Ends when the phase begins, or when the epoch holds nothing more: completed without us, closed, or followed by
/// another. It does not depend on the notification, see PhaseGate.
template <class Policy>
void PoolCore<Policy>::wait_at_gate(Worker& worker, std::uint32_t epoch, std::uint32_t gate) {
    const auto ready = [&] {
        return claims_.reached(epoch, gate) || claims_.exhausted(epoch) ||
               worker.benched.load(std::memory_order_relaxed) || gate_.stopping();
    };
    worker.clock.enter(WorkerState::spinning);
    if (spin_until(ready, options_.oversubscribed ? 0 : options_.in_phase_spin_ns)) return;
    worker.clock.enter(WorkerState::asleep);
    phase_gate_.block(ready, [] { return false; }, std::chrono::milliseconds(10));
    worker.clock.enter(WorkerState::spinning);
}

template <class Policy>
void PoolCore<Policy>::sit_out(Worker& worker) {
    for (;;) {
        worker.clock.enter(WorkerState::asleep);
        {
            std::unique_lock<std::mutex> lock(bench_mutex_);
            // All are written before the host takes and leaves the mutex, or while it holds it, so none can be missed
            // between look and wait.
            bench_condition_.wait(lock, [&] {
                return !worker.benched.load(std::memory_order_relaxed) || gate_.stopping() ||
                       worker.rehearsal.load(std::memory_order_relaxed) == Rehearsal::asked;
            });
        }
        worker.wakes.store(worker.wakes.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
        worker.clock.enter(WorkerState::spinning);
        if (gate_.stopping() || !worker.benched.load(std::memory_order_relaxed)) return;
        worker.rehearsal.store(rehearse() ? Rehearsal::passed : Rehearsal::failed, std::memory_order_relaxed);
    }
}

/// Uses its core for a while as if it computed. A gap between two looks at the clock means that the core was away.
template <class Policy>
bool PoolCore<Policy>::rehearse() const noexcept {
    const std::uint64_t started = now_ns();
    std::uint64_t last = started;
    while (last - started < options_.rehearsal_ns && !gate_.stopping()) {
        for (std::uint32_t pauses = 0; pauses < kPausesPerShortClockRead; ++pauses) cpu_pause();
        const std::uint64_t now = now_ns();
        if (now - last > Governor::kLateNs) return false;
        last = now;
    }
    return true;
}

}  // namespace dormouse
