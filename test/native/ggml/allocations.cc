// The token path allocates nothing: counts `new` while a graph that is known is computed again.
#include <atomic>
#include <cstdlib>
#include <new>

#include "graph-case.h"

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

namespace {

std::atomic<bool> counting{false};
std::atomic<std::uint64_t> allocations{0};

void* allocate(std::size_t size) {
    if (counting.load(std::memory_order_relaxed)) allocations.fetch_add(1, std::memory_order_relaxed);
    if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
    throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t size) { return allocate(size); }
void* operator new[](std::size_t size) { return allocate(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

TEST("a known graph is computed without an allocation", "a vector or a function object on the token path") {
    GraphCase test(30);
    ggml_context* context = test.graph_context();
    ggml_tensor* ids = test.experts(3, 1, 8, false);
    ggml_tensor* input = test.input({256, 1, 1});
    ggml_tensor* up =
        ggml_mul_mat_id(context, test.weight(GGML_TYPE_Q8_0, {256, 512, 8}, "blk.0.ffn_up_exps.weight"), input, ids);
    ggml_tensor* gate =
        ggml_mul_mat_id(context, test.weight(GGML_TYPE_Q8_0, {256, 512, 8}, "blk.0.ffn_gate_exps.weight"), input, ids);
    ggml_tensor* hidden = ggml_geglu_split(context, gate, up);
    ggml_tensor* down =
        ggml_mul_mat_id(context, test.weight(GGML_TYPE_Q8_0, {512, 256, 8}, "blk.0.ffn_down_exps.weight"), hidden, ids);
    ggml_tensor* flat = ggml_reshape_1d(context, ggml_scale(context, down, 0.5F), 768);
    ggml_tensor* head = ggml_view_1d(context, flat, 256, 0);
    test.finish({ggml_mul_mat(context, test.weight(GGML_TYPE_Q4_K, {256, 600}), head)});
    test.graph()->uid = 77'777;
    const std::vector<float> expected = test.compute(Ground::get().plain());
    const PoolCounts before = pool_counts();
    check_same_bits("first", test.compute(Ground::get().pooled()), expected);
    CHECK_EQUAL(pool_counts().units - before.units, std::uint64_t{1});
    counting.store(true);
    for (int round = 0; round < 50; ++round) ggml_backend_graph_compute(Ground::get().pooled(), test.graph());
    counting.store(false);
    CHECK_EQUAL(allocations.load(), std::uint64_t{0});
}

#endif
