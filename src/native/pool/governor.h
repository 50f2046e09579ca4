#pragma once

#include <cstdint>
#include <vector>

namespace dormouse {

/// Decides, on a machine that others keep busy, which workers take part and how long they may spin.
///
/// A worker that loses its core in the middle of a chunk makes the host wait for a whole time slice, some milliseconds,
/// while its chunks save the host some microseconds each. The governor keeps that account per worker: time the host
/// lost waiting for it against time its chunks would have cost the host. A worker that costs too much is benched: it
/// sleeps, takes no chunk and is not woken by publishes. After a pause it rehearses: it spins for some milliseconds by
/// itself and watches whether the core stays its own. If not, nobody waited for it and the next pause is twice as long;
/// if so, it takes part again. A pause is also at least twenty times what the last fault cost, so that a machine that
/// passes rehearsals and fails in earnest costs a twentieth at most, and a quiet one is used again soon.
///
/// Host only, plain arithmetic: it reads no clock and allocates only in its constructor.
class Governor {
 public:
    /// `fade_ns`: gained time after which a quarter of an account is forgotten, so that it remembers about four times as
    /// much. The longer, the less a single hiccup counts, and the later a machine that has become crowded is noticed.
    explicit Governor(std::uint32_t workers, std::uint64_t fade_ns = kFadeNs);

    /// What one worker did since the last call of close_window().
    struct Share {
        std::uint64_t chunks;
    };

    /// The host waited `lost_ns` inside an epoch beyond the usual, and `worker` was computing then.
    void on_late(std::uint32_t worker, std::uint64_t lost_ns) noexcept;
    /// Involuntary context switches of the host since the last call.
    void on_preempted(std::uint64_t switches) noexcept;
    /// Whether enough happened since the last window for its account to be worth closing.
    bool window_is_due(std::uint64_t now) const noexcept { return now >= window_ends_ || late_in_window_; }
    /// `chunk_ns`: what a chunk costs the host. `shares`: one per worker.
    void close_window(std::uint64_t now, std::uint64_t chunk_ns, const Share* shares) noexcept;

    bool benched(std::uint32_t worker) const noexcept { return accounts_[worker].benched; }
    /// Whether a benched worker's pause is over. Having it rehearse is the caller's.
    bool wants_probe(std::uint32_t worker, std::uint64_t now) const noexcept {
        return accounts_[worker].benched && now >= accounts_[worker].probe_at;
    }
    bool any_probe_due(std::uint64_t now) const noexcept { return benched_ > 0 && now >= next_probe_; }
    /// The rehearsal went well: the worker takes part again.
    void take_back(std::uint32_t worker, std::uint64_t now) noexcept;
    void rehearsal_failed(std::uint32_t worker, std::uint64_t now) noexcept;

    std::uint32_t benched_count() const noexcept { return benched_; }
    std::uint64_t probes() const noexcept { return probes_; }
    std::uint64_t lost_ns() const noexcept { return lost_ns_; }
    /// Right shift of the spin budget: 0 on a quiet machine, up to kMaxSpinShift on one that is oversubscribed.
    std::uint32_t spin_shift() const noexcept;

    static constexpr std::uint64_t kFadeNs = 4'000'000;
    static constexpr std::uint32_t kMaxSpinShift = 7;
    static constexpr std::uint64_t kWindowNs = 4'000'000;
    static constexpr std::uint64_t kFirstPauseNs = 25'000'000;
    static constexpr std::uint64_t kLongestPauseNs = 3'200'000'000;
    static constexpr std::uint64_t kPausePerLoss = 20;
    static constexpr std::uint64_t kRehearsalNs = 8'000'000;
    /// A wait shorter than this is no straggler: chunks may be a bit longer than they should, and wake-ups take time.
    static constexpr std::uint64_t kLateNs = 300'000;

 private:
    struct Account {
        std::uint64_t gained_ns = 0;
        std::uint64_t lost_ns = 0;
        std::uint64_t since_fade_ns = 0;
        std::uint64_t pause_ns = kFirstPauseNs;
        std::uint64_t probe_at = 0;
        std::uint64_t active_since = 0;
        bool benched = false;
    };

    void settle(Account& account, std::uint64_t now) noexcept;
    void pause(Account& account, std::uint64_t now, std::uint64_t at_least) noexcept;
    void update_next_probe() noexcept;

    const std::uint64_t fade_ns_;
    std::vector<Account> accounts_;
    std::uint64_t window_ends_ = 0;
    std::uint64_t next_probe_ = UINT64_MAX;
    std::uint64_t probes_ = 0;
    std::uint64_t lost_ns_ = 0;
    /// Signs of a busy machine; halves every kPressureHalfLifeNs.
    std::uint64_t pressure_ = 0;
    std::uint64_t pressure_decayed_ = 0;
    std::uint32_t benched_ = 0;
    bool late_in_window_ = false;
};

}  // namespace dormouse
