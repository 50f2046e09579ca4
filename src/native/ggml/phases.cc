#include "phases.h"

#include <algorithm>

namespace dormouse {

void ConvertPhase::convert_row(std::int64_t row) const noexcept {
    const auto slot = static_cast<std::size_t>(row % slots);
    const auto token = static_cast<std::size_t>(row / slots);
    const char* const from = source + token * token_stride + slot * slot_stride;
    from_float(reinterpret_cast<const float*>(from), out + static_cast<std::size_t>(row) * out_stride, columns);
}

void ConvertPhase::compute(void* self, std::uint32_t chunk, std::uint32_t thread) noexcept {
    const auto& phase = *static_cast<const ConvertPhase*>(self);
    const ScopedWork scope(*phase.counters, Work::convert, thread);
    phase.convert_row(chunk);
}

std::uint64_t DotPart::compute(const ExpertGroups& groups, const ExpertGroup& group, std::int64_t begin,
                               std::int64_t end) const noexcept {
    const auto expert = static_cast<std::size_t>(group.expert);
    WeightRows matrix = weights;
    matrix.first += expert * expert_stride;
    const ExpertRow* const rows = groups.rows(group);
    for (std::uint32_t index = 0; index < group.count; ++index) {
        const auto slot = static_cast<std::size_t>(rows[index].slot);
        const auto token = static_cast<std::size_t>(rows[index].token);
        const std::size_t input_slot = slot % static_cast<std::size_t>(inputs_per_token);
        const char* const input = inputs + input_slot * input_slot_stride + token * input_token_stride;
        auto* const to = reinterpret_cast<float*>(out + slot * out_slot_stride + token * out_token_stride);
        dot_rows(matrix, begin, end, input, to, index == 0);
        // Scale and bias round one after the other, as ggml's separate operations do.
        if (scale != nullptr) {
            for (std::int64_t row = begin; row < end; ++row) to[row] *= scale[expert];
        }
        if (bias != nullptr) {
            const auto* const add = reinterpret_cast<const float*>(bias + expert * bias_stride);
            for (std::int64_t row = begin; row < end; ++row) to[row] += add[row];
        }
    }
    return static_cast<std::uint64_t>(end - begin) * weights.row_bytes;
}

std::uint64_t DotPhase::weight_bytes() const noexcept {
    std::uint64_t bytes = 0;
    for (std::uint32_t part = 0; part < part_count; ++part) bytes += parts[part].weights.row_bytes;
    return bytes * static_cast<std::uint64_t>(rows) * groups->size();
}

std::uint32_t DotPhase::plan_chunks(std::uint32_t threads) noexcept {
    constexpr std::uint64_t kLeast = 8 * 1024;
    constexpr std::uint64_t kMost = 192 * 1024;
    constexpr std::int64_t kLine = 16;
    if (groups->size() == 0 || rows == 0) return 0;
    std::uint64_t row_bytes = 0;
    for (std::uint32_t part = 0; part < part_count; ++part) row_bytes += parts[part].weights.row_bytes;
    // A row is read from memory once; each further token costs about a quarter of that in computation.
    const std::uint64_t tokens = std::max<std::uint64_t>(1, groups->row_count() / groups->size());
    const std::uint64_t row_cost = std::max<std::uint64_t>(1, row_bytes * (3 + tokens) / 4);
    const std::uint64_t total = row_cost * static_cast<std::uint64_t>(rows) * groups->size();
    // Many more chunks than threads, so that a straggler costs little, but none so small that claiming it shows.
    const std::uint64_t wanted = std::clamp<std::uint64_t>(total / (std::uint64_t{threads} * 8), kLeast, kMost);
    chunk_rows = std::clamp<std::int64_t>(static_cast<std::int64_t>(wanted / row_cost), 1, rows);
    // Whole cache lines of output where possible.
    if (chunk_rows >= kLine) chunk_rows = std::min(rows, chunk_rows / kLine * kLine);
    const auto per_group = [&] { return (rows + chunk_rows - 1) / chunk_rows; };
    // Leaves room for the other phases of the epoch.
    while (per_group() * static_cast<std::int64_t>(groups->size()) > kMaxChunksPerEpoch / 4) chunk_rows *= 2;
    chunks_per_group = static_cast<std::uint32_t>(per_group());
    return chunks_per_group * groups->size();
}

void DotPhase::compute(void* self, std::uint32_t chunk, std::uint32_t thread) noexcept {
    const auto& phase = *static_cast<const DotPhase*>(self);
    const ScopedWork scope(*phase.counters, phase.work, thread);
    const ExpertGroup& group = phase.groups->group(chunk / phase.chunks_per_group);
    const std::int64_t begin = static_cast<std::int64_t>(chunk % phase.chunks_per_group) * phase.chunk_rows;
    const std::int64_t end = std::min(phase.rows, begin + phase.chunk_rows);
    std::uint64_t bytes = 0;
    for (std::uint32_t part = 0; part < phase.part_count; ++part) {
        bytes += phase.parts[part].compute(*phase.groups, group, begin, end);
    }
    phase.counters->lane(thread).weight_bytes.fetch_add(bytes, std::memory_order_relaxed);
}

void ActivationPhase::compute(void* self, std::uint32_t chunk, std::uint32_t thread) noexcept {
    const auto& phase = *static_cast<const ActivationPhase*>(self);
    const ScopedWork scope(*phase.counters, Work::activation, thread);
    std::array<const float*, 2> rows{};
    const auto offset = static_cast<std::size_t>(chunk) * static_cast<std::size_t>(phase.inner);
    for (std::size_t input = 0; input < rows.size(); ++input) {
        rows[input] = phase.inputs[input] == nullptr ? nullptr : phase.inputs[input] + offset;
    }
    const float* const activated = phase.lanes->run(*phase.program, rows, thread);
    phase.from_float(activated, phase.out + static_cast<std::size_t>(chunk) * phase.out_stride, phase.columns);
}

}  // namespace dormouse
