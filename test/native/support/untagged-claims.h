#pragma once

#include "test-pool.h"

/// The protocol as it was before epochs were part of the claim: plain counters, reset by the host one after the other.
/// Same face as TaggedClaims, so that the same pool and the same test can run on it. For the proof that the test of the
/// late waker finds what it is there to find.
class UntaggedClaims {
 public:
    void open(std::uint32_t, const dormouse::Phase* phases, std::uint32_t, std::uint32_t total) {
        chunks_.store(total);
        next_.store(0);
        TestPolicyBase::at(TestPoint::opening);
        phase_.store(phases[0].function);
        context_.store(phases[0].context);
        done_.store(0);
    }

    dormouse::Claim claim(std::uint32_t) {
        const std::uint32_t next = next_.fetch_add(1);
        if (next >= chunks_.load()) return {dormouse::Claim::Kind::nothing, 0, 0, 0, 0};
        return {dormouse::Claim::Kind::chunk, 0, next, 0, chunks_.load()};
    }

    dormouse::Phase phase(std::uint32_t) const { return {phase_.load(), context_.load(), chunks_.load()}; }
    std::uint32_t finish(std::uint32_t) { return done_.fetch_add(1) + 1; }
    bool reached(std::uint32_t, std::uint32_t count) const { return done_.load() >= count; }
    bool exhausted(std::uint32_t) const { return next_.load() >= chunks_.load(); }
    std::uint32_t target() const { return chunks_.load(); }
    std::uint32_t finished() const { return done_.load(); }
    void close() { next_.store(chunks_.load()); }

 private:
    std::atomic<std::uint32_t> chunks_{0};
    std::atomic<std::uint32_t> next_{0};
    std::atomic<std::uint32_t> done_{0};
    std::atomic<dormouse::ChunkFunction> phase_{nullptr};
    std::atomic<void*> context_{nullptr};
};
