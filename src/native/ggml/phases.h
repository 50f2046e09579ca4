#pragma once

#include <array>

#include "activation.h"
#include "counters.h"
#include "dot-rows.h"
#include "expert-groups.h"
#include "job.h"

namespace dormouse {

// The phases of an epoch, as plain data. They belong to the evaluator, not to a stack: after a stalled run a late
// worker may still read them. Chunks of one phase write disjoint parts of the output and read only what earlier phases
// wrote.

/// Float rows, of a tensor or of scratch, to the format of a dot product. Chunk: one row.
struct ConvertPhase {
    Counters* counters = nullptr;
    FromFloat from_float = nullptr;
    const char* source = nullptr;
    std::size_t slot_stride = 0;
    std::size_t token_stride = 0;
    std::int64_t slots = 1;
    std::int64_t columns = 0;
    char* out = nullptr;
    std::size_t out_stride = 0;

    void convert_row(std::int64_t row) const noexcept;
    static void compute(void* self, std::uint32_t chunk, std::uint32_t thread) noexcept;
};

/// A matrix (or one per expert) times input rows, with scale and bias per expert.
struct DotPart {
    WeightRows weights;
    std::size_t expert_stride = 0;
    /// Input row of (slot, token): slot modulo `inputs_per_token`.
    const char* inputs = nullptr;
    std::size_t input_slot_stride = 0;
    std::size_t input_token_stride = 0;
    std::int64_t inputs_per_token = 1;
    char* out = nullptr;
    std::size_t out_slot_stride = 0;
    std::size_t out_token_stride = 0;
    const float* scale = nullptr;
    const char* bias = nullptr;
    std::size_t bias_stride = 0;

    /// Returns the bytes of weights it read.
    std::uint64_t compute(const ExpertGroups& groups, const ExpertGroup& group, std::int64_t begin,
                          std::int64_t end) const noexcept;
};

/// One or two products over the same rows. Chunk: some rows of one expert, for all tokens that use it.
struct DotPhase {
    Counters* counters = nullptr;
    Work work = Work::dense;
    const ExpertGroups* groups = nullptr;
    std::array<DotPart, 2> parts{};
    std::uint32_t part_count = 1;
    /// Rows that each token has: the experts it uses.
    std::int64_t slots = 1;
    /// Rows of the matrix.
    std::int64_t rows = 0;
    std::int64_t chunk_rows = 1;
    std::uint32_t chunks_per_group = 1;

    /// Chooses the chunk size for the groups at hand and gives the number of chunks.
    std::uint32_t plan_chunks(std::uint32_t threads) noexcept;
    /// Weights that the phase will read.
    std::uint64_t weight_bytes() const noexcept;
    static void compute(void* self, std::uint32_t chunk, std::uint32_t thread) noexcept;
};

/// Activation of one expert's row, and its conversion for the down product. Chunk: one row.
struct ActivationPhase {
    Counters* counters = nullptr;
    const ActivationProgram* program = nullptr;
    ActivationLanes* lanes = nullptr;
    std::array<const float*, 2> inputs{};
    /// Floats of an input row.
    std::int64_t inner = 0;
    FromFloat from_float = nullptr;
    std::int64_t columns = 0;
    char* out = nullptr;
    std::size_t out_stride = 0;

    static void compute(void* self, std::uint32_t chunk, std::uint32_t thread) noexcept;
};

}  // namespace dormouse
