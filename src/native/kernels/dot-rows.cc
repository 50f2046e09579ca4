#include "dot-rows.h"

#include <algorithm>

#if defined(_MSC_VER)
#include <intrin.h>
#endif

namespace dormouse {

namespace {

constexpr std::size_t kLine = 64;
/// Decode is bound by memory, and the hardware's prefetcher stops at page ends: asking for the row after the next one
/// nearly doubles what one core reads. Longer rows would push each other out of the first-level cache.
constexpr std::int64_t kRowsAhead = 2;
constexpr std::size_t kMostAhead = 8 * 1024;

inline void prefetch(const char* address) noexcept {
#if defined(_MSC_VER) && (defined(_M_X64) || defined(_M_IX86))
    _mm_prefetch(address, _MM_HINT_T0);
#elif defined(_MSC_VER)
    __prefetch(address);
#else
    __builtin_prefetch(address, 0, 3);
#endif
}

}  // namespace

void dot_rows(const WeightRows& weights, std::int64_t begin, std::int64_t end, const void* input, float* out,
              bool fetch) noexcept {
    const std::size_t ahead_bytes = std::min(weights.row_bytes, kMostAhead);
    for (std::int64_t row = begin; row < end; ++row) {
        const char* const here = weights.first + static_cast<std::size_t>(row) * weights.stride;
        if (fetch && row + kRowsAhead < weights.rows) {
            const char* const ahead = here + kRowsAhead * weights.stride;
            for (std::size_t at = 0; at < ahead_bytes; at += kLine) prefetch(ahead + at);
        }
        weights.dot(weights.columns, out + row, 0, here, 0, input, 0, 1);
    }
}

}  // namespace dormouse
