#pragma once

#include <cstdint>
#include <thread>

namespace dormouse {

/// Names the calling thread `dormouse-expert-N`. Linux keeps 15 characters, so there it reads `dormouse-exp-N`.
void name_worker_thread(std::uint32_t index) noexcept;

/// Keeps the calling thread on one logical core, for good. False where the system does not offer it or refuses.
bool pin_this_thread(std::uint32_t cpu) noexcept;

/// CPU time used by a running thread in nanoseconds; 0 where it cannot be read.
std::uint64_t cpu_time_ns(std::thread& thread) noexcept;

/// How often the system took the core away from the calling thread although it had work; 0 where that is not told.
std::uint64_t involuntary_switches() noexcept;

/// Keeps the calling thread on one logical core while it lives, then gives it back the cores it had. The thread is
/// borrowed (Node's libuv lends it to us): it must leave as it came. Does nothing if the thread may not run on `cpu`.
class ScopedPin {
 public:
    ScopedPin() = default;
    explicit ScopedPin(std::uint32_t cpu) noexcept;
    ScopedPin(const ScopedPin&) = delete;
    ScopedPin& operator=(const ScopedPin&) = delete;
    ~ScopedPin();

    bool pinned() const noexcept { return pinned_; }

 private:
    /// One bit per logical core, up to 1,024 of them; Windows uses the first word.
    std::uint64_t before_[16] = {};
    bool pinned_ = false;
};

}  // namespace dormouse
