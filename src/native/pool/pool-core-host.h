#pragma once

// The host's side of PoolCore. Included by pool-core.h only.

#include <algorithm>
#include <cstdio>

namespace dormouse {

template <class Policy>
RunStatus PoolCore<Policy>::run_phases(const Phase* phases, std::uint32_t count, const std::atomic<bool>* stop) {
    if (inside_ == this) return RunStatus::nested;
    if (count > kMaxPhases) return RunStatus::too_many_chunks;
    std::uint64_t total = 0;
    for (std::uint32_t index = 0; index < count; ++index) total += phases[index].chunks;
    if (total > kMaxChunksPerEpoch) return RunStatus::too_many_chunks;
    if (total == 0) return RunStatus::completed;

    const std::lock_guard<std::mutex> host(host_mutex_);
    const std::uint64_t started = now_ns();
    inside_ = this;
    waited_ns_ = 0;
    RunStatus status;
    if (epoch_complete(epoch_)) {
        ++epoch_;
        claims_.open(epoch_, phases, count, static_cast<std::uint32_t>(total));
        gate_.publish();
        status = compute(epoch_, stop);
        jobs_.store(jobs_.load(std::memory_order_relaxed) + claims_.finished(), std::memory_order_relaxed);
    } else {
        // A worker still hangs in a chunk of a run that was given up. What describes the chunks must not change under
        // it, so until it comes back the host works alone: slower, but it works.
        status = compute_alone(phases, count, stop);
        if (status == RunStatus::completed) {
            jobs_.store(jobs_.load(std::memory_order_relaxed) + total, std::memory_order_relaxed);
        }
    }
    inside_ = nullptr;
    const std::uint64_t now = now_ns();
    const std::uint64_t spent = now - started;
    host_ns_.store(host_ns_.load(std::memory_order_relaxed) + spent, std::memory_order_relaxed);
    host_wait_ns_.store(host_wait_ns_.load(std::memory_order_relaxed) + waited_ns_, std::memory_order_relaxed);
    window_busy_ns_ += spent - std::min(spent, waited_ns_);
    if (governed() && !workers_.empty()) govern(now);
    return status;
}

/// The host claims like any worker, so with every worker asleep or without a core it computes the epoch alone; it waits
/// only for chunks that somebody has in hand.
template <class Policy>
RunStatus PoolCore<Policy>::compute(std::uint32_t epoch, const std::atomic<bool>* stop) {
    RunStatus status = RunStatus::completed;
    for (;;) {
        // Relaxed: a flag, nothing is handed over with it.
        if (stop != nullptr && stop->load(std::memory_order_relaxed) && !claims_.exhausted(epoch)) {
            claims_.close();
            status = RunStatus::stopped;
        }
        const Claim claim = claims_.claim(epoch);
        if (claim.kind == Claim::Kind::nothing) break;
        if (claim.kind == Claim::Kind::chunk) {
            compute_chunk(epoch, claim, 0);
            ++window_chunks_;
            gate_.retry_wake();
        } else if (!host_wait([&] { return claims_.reached(epoch, claim.gate); })) {
            return give_up();
        }
    }
    return host_wait([&] { return epoch_complete(epoch); }) ? status : give_up();
}

template <class Policy>
RunStatus PoolCore<Policy>::compute_alone(const Phase* phases, std::uint32_t count, const std::atomic<bool>* stop) {
    for (std::uint32_t index = 0; index < count; ++index) {
        for (std::uint32_t chunk = 0; chunk < phases[index].chunks; ++chunk) {
            if (stop != nullptr && stop->load(std::memory_order_relaxed)) return RunStatus::stopped;
            phases[index].function(phases[index].context, chunk, 0);
        }
    }
    return RunStatus::completed;
}

/// Waits for chunks that workers have in hand. False: no chunk has finished for the stall limit.
template <class Policy>
template <class Ready>
bool PoolCore<Policy>::host_wait(Ready&& ready) {
    if (ready()) return true;
    const std::uint64_t started = now_ns();
    const auto look = [&] {
        gate_.retry_wake();
        return ready();
    };
    const bool is_ready =
        spin_until(look, options_.oversubscribed ? 0 : options_.in_phase_spin_ns) || host_block(look, started);
    waited_ns_ += now_ns() - started;
    return is_ready;
}

template <class Policy>
template <class Ready>
bool PoolCore<Policy>::host_block(Ready&& ready, std::uint64_t started) {
    // First without blame: a chunk may be long, and waking takes its time.
    const auto first = std::chrono::microseconds(Governor::kLateNs / 1'000);
    if (phase_gate_.block(ready, [&] { return now_ns() - started >= Governor::kLateNs; }, first)) return true;
    // Who is still in a chunk now is late. At most a few hundred bytes on the stack; further workers go unblamed.
    bool late[64] = {};
    const std::size_t watched = std::min<std::size_t>(workers_.size(), 64);
    for (std::size_t index = 0; index < watched; ++index) {
        late[index] = workers_[index]->clock.state() == WorkerState::computing;
    }
    std::uint32_t finished = claims_.finished();
    std::uint64_t progressed = started;
    const auto stuck = [&] {
        const std::uint64_t now = now_ns();
        if (claims_.finished() != finished) {
            finished = claims_.finished();
            progressed = now;
        }
        return now - progressed >= options_.stall_limit_ns;
    };
    const bool is_ready = phase_gate_.block(ready, stuck, std::chrono::milliseconds(1));
    const std::uint64_t lost = now_ns() - started;
    for (std::size_t index = 0; index < watched; ++index) {
        if (late[index]) governor_.on_late(static_cast<std::uint32_t>(index), lost);
    }
    return is_ready;
}

/// Nothing else is claimed from this epoch; what workers have in hand stays theirs. Not on the token path.
template <class Policy>
RunStatus PoolCore<Policy>::give_up() {
    claims_.close();
    char line[160];
    std::snprintf(line, sizeof line, "epoch %u: %u of %u chunks finished and none for %.1f s;", epoch_,
                  claims_.finished(), claims_.target(), static_cast<double>(options_.stall_limit_ns) / 1e9);
    diagnosis_ = line;
    for (const auto& worker : workers_) {
        const WorkerClock::Times times = worker->clock.read();
        std::snprintf(line, sizeof line, " worker %u %s for %.1f s%s;", worker->thread_index, name_of(times.state),
                      static_cast<double>(times.in_state_ns) / 1e9,
                      worker->benched.load(std::memory_order_relaxed) ? " (benched)" : "");
        diagnosis_ += line;
    }
    diagnosis_.back() = '.';
    return RunStatus::stalled;
}

template <class Policy>
bool PoolCore<Policy>::quiesce(std::uint64_t limit_ns) {
    if (inside_ == this) return false;
    const std::lock_guard<std::mutex> host(host_mutex_);
    const auto is_quiet = [&] {
        // Completeness alone is enough for the caller's memory: who holds no chunk reads nothing that chunks work on,
        // and none can be claimed from a complete epoch. The states are for those who look at the pool afterwards.
        return epoch_complete(epoch_) && std::none_of(workers_.begin(), workers_.end(), [](const auto& worker) {
                   return worker->clock.state() == WorkerState::computing;
               });
    };
    if (is_quiet()) return true;
    const std::uint64_t started = now_ns();
    return phase_gate_.block(is_quiet, [&] { return now_ns() - started >= limit_ns; }, std::chrono::milliseconds(1));
}

template <class Policy>
void PoolCore<Policy>::govern(std::uint64_t now) {
    if (governor_.window_is_due(now)) close_window(now);
    if (governor_.any_probe_due(now)) look_at_bench(now);
}

template <class Policy>
void PoolCore<Policy>::close_window(std::uint64_t now) {
    for (std::size_t index = 0; index < workers_.size(); ++index) {
        const std::uint64_t chunks = workers_[index]->chunks.load(std::memory_order_relaxed);
        shares_[index].chunks = chunks - workers_[index]->chunks_before;
        workers_[index]->chunks_before = chunks;
    }
    // The counter belongs to the thread, and Node lends a different one from call to call.
    const std::uint64_t switches = involuntary_switches();
    const std::thread::id self = std::this_thread::get_id();
    if (self == host_thread_) governor_.on_preempted(switches - host_switches_);
    for (const auto& worker : workers_) {
        const std::uint64_t gaps = worker->gaps.load(std::memory_order_relaxed);
        governor_.on_preempted((gaps - worker->gaps_before) * 2);
        worker->gaps_before = gaps;
    }
    host_thread_ = self;
    host_switches_ = switches;

    governor_.close_window(now, window_chunks_ > 0 ? window_busy_ns_ / window_chunks_ : 0, shares_.data());
    window_chunks_ = 0;
    window_busy_ns_ = 0;
    for (std::size_t index = 0; index < workers_.size(); ++index) {
        if (!governor_.benched(static_cast<std::uint32_t>(index))) continue;
        workers_[index]->benched.store(true, std::memory_order_relaxed);
    }
    benched_.store(governor_.benched_count(), std::memory_order_relaxed);
    lost_ns_.store(governor_.lost_ns(), std::memory_order_relaxed);
    apply_spin();
}

/// Has workers rehearse whose pause is over, and takes back those who passed. If the mutex is taken, by a worker that
/// may have lost its core with it, the next run tries again: the host waits for nobody.
template <class Policy>
void PoolCore<Policy>::look_at_bench(std::uint64_t now) {
    if (!bench_mutex_.try_lock()) return;
    for (std::size_t index = 0; index < workers_.size(); ++index) {
        const auto number = static_cast<std::uint32_t>(index);
        Worker& worker = *workers_[index];
        if (!governor_.wants_probe(number, now)) continue;
        // Relaxed throughout: outcome and flags are handed over alone; the mutex orders them against the worker's wait.
        switch (worker.rehearsal.load(std::memory_order_relaxed)) {
            case Rehearsal::none: worker.rehearsal.store(Rehearsal::asked, std::memory_order_relaxed); break;
            case Rehearsal::asked: break;
            case Rehearsal::failed:
                governor_.rehearsal_failed(number, now);
                worker.rehearsal.store(Rehearsal::none, std::memory_order_relaxed);
                break;
            case Rehearsal::passed:
                governor_.take_back(number, now);
                worker.chunks_before = worker.chunks.load(std::memory_order_relaxed);
                worker.rehearsal.store(Rehearsal::none, std::memory_order_relaxed);
                worker.benched.store(false, std::memory_order_relaxed);
                break;
        }
    }
    bench_mutex_.unlock();
    bench_condition_.notify_all();
    benched_.store(governor_.benched_count(), std::memory_order_relaxed);
    probes_.store(governor_.probes(), std::memory_order_relaxed);
    apply_spin();
}

/// Takes everybody back, whatever the rehearsals say.
template <class Policy>
void PoolCore<Policy>::empty_bench() {
    {
        const std::lock_guard<std::mutex> lock(bench_mutex_);
        for (std::size_t index = 0; index < workers_.size(); ++index) {
            governor_.take_back(static_cast<std::uint32_t>(index), now_ns());
            workers_[index]->rehearsal.store(Rehearsal::none, std::memory_order_relaxed);
            workers_[index]->benched.store(false, std::memory_order_relaxed);
        }
    }
    bench_condition_.notify_all();
    benched_.store(0, std::memory_order_relaxed);
}

template <class Policy>
void PoolCore<Policy>::apply_spin() noexcept {
    const std::uint64_t configured = configured_spin_ns_.load(std::memory_order_relaxed);
    const std::uint32_t benched = governor_.benched_count();
    crowded_.store(benched > 0 && benched * 2 >= workers_.size(), std::memory_order_relaxed);
    if (configured == kSpinAlways) return gate_.set_spin_ns(configured);
    gate_.set_spin_ns(options_.oversubscribed ? 0 : configured >> governor_.spin_shift());
}

}  // namespace dormouse
