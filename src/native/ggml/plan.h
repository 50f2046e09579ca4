#pragma once

#include <cstdint>
#include <vector>

#include "recognise.h"

namespace dormouse {

/// Dense products with up to this many tokens go to the pool: decode, and windows that verify drafts. With more, ggml's
/// own path wins, which reads each weight row once for many tokens.
inline constexpr std::int64_t kMostDecodeTokens = 8;
/// FFN units with more rows (tokens times experts used) go node by node: one publish saves nothing there.
inline constexpr std::int64_t kMostUnitRows = 512;

enum class StepKind : std::uint8_t {
    /// A run of nodes for ggml, short enough for one thread.
    original_small,
    /// With ggml's threads while the cores are ours. On a crowded machine with one: what several gain is less than the
    /// time slice that a preempted one costs all others, who wait for it at ggml's barriers. Attention over a long KV
    /// then rounds as it does with one thread.
    original_medium,
    /// Always with ggml's threads.
    original_large,
    dense,
    expert,
    unit,
};

/// Nodes [begin, end) of the graph.
struct Step {
    StepKind kind = StepKind::original_small;
    int begin = 0;
    int end = 0;
    /// Index in Plan::units.
    std::uint32_t unit = 0;
    /// original_medium: the shortest time that it has taken with ggml's threads, in ns; 0 before the first.
    std::uint64_t best_ns = 0;
};

/// Most memory that any one step of a plan wants.
struct ScratchNeeds {
    std::size_t converted_input = 0;
    std::size_t hidden = 0;
    std::size_t converted_hidden = 0;
    std::size_t rows = 0;
    std::size_t experts = 0;
    /// Floats of one thread's activation.
    std::size_t lane = 0;
};

/// How one graph is computed. Refers to nodes by index and is used for graphs of the same identity only.
struct Plan {
    std::vector<Step> steps;
    std::vector<FfnUnit> units;
    ScratchNeeds needs;
    /// Highest layer number among the expert weights, and most experts: for counting hits.
    int layers = 0;
    std::uint32_t pool_nodes = 0;
    std::uint32_t original_nodes = 0;
    bool uses_pool = false;
    bool uses_threads = false;
    /// Made with units.
    bool fused = false;
};

/// Whether the pool can compute a MUL_MAT with a 2-D weight for a few tokens.
bool can_multiply_dense(const Binding& binding, const ggml_tensor* node);

/// The layer number in `blk.N.`, or -1.
int layer_of(const ggml_tensor* weights);

/// `fuse`: compute expert FFNs as units.
Plan make_plan(const Binding& binding, const ggml_cgraph* graph, bool fuse);

}  // namespace dormouse
