#pragma once

#include <cstddef>
#include <cstdint>

namespace dormouse {

/// Dot product of one row of weights and one row of input, both in the formats the kernel was made for; ggml's vec_dot.
using VecDot = void (*)(int columns, float* result, std::size_t result_stride, const void* weights,
                        std::size_t weights_stride, const void* input, std::size_t input_stride, int rows_at_once);

/// Converts a row of floats to the format that a VecDot wants as its input; ggml's from_float.
using FromFloat = void (*)(const float* floats, void* converted, std::int64_t columns);

/// A matrix of weights, row by row.
struct WeightRows {
    VecDot dot = nullptr;
    const char* first = nullptr;
    std::size_t row_bytes = 0;
    /// Distance from one row to the next, in bytes.
    std::size_t stride = 0;
    std::int64_t rows = 0;
    int columns = 0;
};

/// out[row] = weights[row] . input for begin <= row < end. `input` is one row in the kernel's input format.
/// `fetch`: the weights come from memory; false when they were just used and lie in the cache.
void dot_rows(const WeightRows& weights, std::int64_t begin, std::int64_t end, const void* input, float* out,
              bool fetch) noexcept;

}  // namespace dormouse
