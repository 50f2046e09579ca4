#include "governor.h"

#include <algorithm>

namespace dormouse {

namespace {
constexpr std::uint64_t kPressureHalfLifeNs = 250'000'000;
/// One involuntary switch now and then is normal; this many within a half-life are a sign.
constexpr std::uint64_t kPressureThreshold = 8;
constexpr std::uint64_t kPressurePerLate = 4;
constexpr std::uint64_t kMaxPressure = kPressureThreshold << Governor::kMaxSpinShift;
/// A worker that stays in for this long after a probe has passed it.
constexpr std::uint64_t kProbationNs = 100'000'000;
}  // namespace

Governor::Governor(std::uint32_t workers, std::uint64_t fade_ns) : fade_ns_(fade_ns), accounts_(workers) {}

void Governor::on_late(std::uint32_t worker, std::uint64_t lost_ns) noexcept {
    accounts_[worker].lost_ns += lost_ns;
    lost_ns_ += lost_ns;
    pressure_ = std::min(kMaxPressure, pressure_ + kPressurePerLate);
    late_in_window_ = true;
}

void Governor::on_preempted(std::uint64_t switches) noexcept {
    pressure_ = std::min(kMaxPressure, pressure_ + switches);
}

void Governor::close_window(std::uint64_t now, std::uint64_t chunk_ns, const Share* shares) noexcept {
    for (std::size_t worker = 0; worker < accounts_.size(); ++worker) {
        Account& account = accounts_[worker];
        if (account.benched) continue;
        const std::uint64_t gained = shares[worker].chunks * chunk_ns;
        account.gained_ns += gained;
        account.since_fade_ns += gained;
        settle(account, now);
        // Accounts fade with work done, not with time: an hour of idleness teaches nothing about the machine.
        if (account.since_fade_ns >= fade_ns_) {
            account.gained_ns -= account.gained_ns / 4;
            account.lost_ns -= account.lost_ns / 4;
            account.since_fade_ns = 0;
        }
    }
    while (pressure_ > 0 && now - pressure_decayed_ >= kPressureHalfLifeNs) {
        pressure_ /= 2;
        pressure_decayed_ += kPressureHalfLifeNs;
    }
    if (pressure_ == 0) pressure_decayed_ = now;
    window_ends_ = now + kWindowNs;
    late_in_window_ = false;
}

/// Benches a worker that costs more than three quarters of what it brings. Not all of it, because what it brings is an
/// upper bound: the host's own chunks get slower when memory is shared.
void Governor::settle(Account& account, std::uint64_t now) noexcept {
    if (account.lost_ns >= kLateNs && account.lost_ns * 4 > account.gained_ns * 3) {
        account.benched = true;
        ++benched_;
        pause(account, now, std::min(kLongestPauseNs, account.lost_ns * kPausePerLoss));
        account.gained_ns = 0;
        account.lost_ns = 0;
    } else if (account.pause_ns > kFirstPauseNs && now - account.active_since >= kProbationNs) {
        account.pause_ns = std::max(kFirstPauseNs, account.pause_ns / 2);
        account.active_since = now;
    }
}

void Governor::pause(Account& account, std::uint64_t now, std::uint64_t at_least) noexcept {
    account.probe_at = now + std::max(account.pause_ns, at_least);
    account.pause_ns = std::min(kLongestPauseNs, account.pause_ns * 2);
    update_next_probe();
}

void Governor::rehearsal_failed(std::uint32_t worker, std::uint64_t now) noexcept {
    Account& account = accounts_[worker];
    if (!account.benched) return;
    ++probes_;
    pressure_ = std::min(kMaxPressure, pressure_ + kPressurePerLate);
    pause(account, now, 0);
}

void Governor::take_back(std::uint32_t worker, std::uint64_t now) noexcept {
    Account& account = accounts_[worker];
    if (!account.benched) return;
    account.benched = false;
    account.active_since = now;
    --benched_;
    ++probes_;
    update_next_probe();
}

void Governor::update_next_probe() noexcept {
    next_probe_ = UINT64_MAX;
    for (const Account& account : accounts_) {
        if (account.benched) next_probe_ = std::min(next_probe_, account.probe_at);
    }
}

std::uint32_t Governor::spin_shift() const noexcept {
    std::uint32_t shift = 0;
    for (std::uint64_t left = pressure_; left >= kPressureThreshold && shift < kMaxSpinShift; left /= 2) ++shift;
    return shift;
}

}  // namespace dormouse
