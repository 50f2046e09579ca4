#pragma once

#include <cstdint>

namespace dormouse {

/// Computes chunk `chunk` of a phase. `thread` is 0 on the host and 1.. on workers: an index for scratch buffers.
/// Must not throw, and must not call the pool that runs it.
using ChunkFunction = void (*)(void* context, std::uint32_t chunk, std::uint32_t thread);

/// One phase of an epoch: `chunks` independent pieces of at most about 50 us each. A phase begins when every chunk of
/// the phases before it has finished. A plain pointer pair, so that nothing is allocated on the token path.
struct Phase {
    ChunkFunction function;
    void* context;
    std::uint32_t chunks;
};

inline constexpr std::uint32_t kMaxPhases = 8;
/// All phases of an epoch together; a field of 16 bits in the claim word. More work means larger chunks.
inline constexpr std::uint32_t kMaxChunksPerEpoch = 65'535;

enum class RunStatus : std::uint8_t {
    completed,
    /// The stop flag was seen: no further chunk begins, those begun have finished.
    stopped,
    /// No chunk finished within the limit. A worker may still be inside a chunk: what it works on must stay alive
    /// until `quiesce()` says yes. `diagnosis()` names every worker's state.
    stalled,
    /// Called from within a chunk of the same pool; waiting would never end.
    nested,
    /// More than kMaxChunksPerEpoch chunks or kMaxPhases phases.
    too_many_chunks,
};

}  // namespace dormouse
