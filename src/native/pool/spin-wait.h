#pragma once

#include <chrono>
#include <cstdint>

#if defined(__x86_64__) || defined(_M_X64) || defined(__i386__)
#include <immintrin.h>
#endif

namespace dormouse {

/// Each atomic that two threads write lies alone: 128 bytes, since x86 fetches lines in pairs and Apple's are that
/// long.
inline constexpr std::size_t kCacheLine = 128;

/// Tells the core that this is a wait: it saves power and leaves the pipeline to the sibling thread.
inline void cpu_pause() noexcept {
#if defined(__x86_64__) || defined(_M_X64) || defined(__i386__)
    _mm_pause();
#elif defined(__aarch64__)
    // `yield` is a no-op on most ARM cores; `isb` stalls for tens of nanoseconds, about as long as x86's pause.
    asm volatile("isb" ::: "memory");
#elif defined(__arm__)
    asm volatile("yield" ::: "memory");
#endif
}

/// Steady time in nanoseconds.
inline std::uint64_t now_ns() noexcept {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

/// In-phase waits look at the clock this often; one pause is 15 to 60 ns, so the bound is kept within a few
/// microseconds.
inline constexpr std::uint32_t kPausesPerShortClockRead = 64;

/// Spins until `ready()` or until `budget_ns` are over. Returns whether it became ready.
template <class Ready>
bool spin_until(Ready&& ready, std::uint64_t budget_ns) noexcept {
    if (ready()) return true;
    if (budget_ns == 0) return false;
    const std::uint64_t started = now_ns();
    for (std::uint32_t pauses = 1;; ++pauses) {
        if (ready()) return true;
        cpu_pause();
        if (pauses % kPausesPerShortClockRead == 0 && now_ns() - started >= budget_ns) return ready();
    }
}

}  // namespace dormouse
