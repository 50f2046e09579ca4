#pragma once

#include <atomic>
#include <cstdint>

#include "job.h"
#include "spin-wait.h"

namespace dormouse {

struct Claim {
    enum class Kind : std::uint8_t { chunk, gate_closed, nothing };
    Kind kind;
    std::uint32_t phase;
    /// Within its phase.
    std::uint32_t chunk;
    /// Finished chunks of the epoch that open the phase (gate_closed).
    std::uint32_t gate;
    /// Finished chunks of the epoch that end the phase (chunk).
    std::uint32_t phase_end;
};

/// The chunks of the current epoch: who may take which, and how many are done.
///
/// Both words carry the epoch. A worker that slept may run again at any later time, in the middle of the host preparing
/// the next epoch. With plain counters it could then take a chunk of an epoch that it knows nothing of, compute it with
/// the former epoch's function, or add to a counter before it is reset; the host then waits for ever. Here every change
/// is a compare-exchange on a word that says for which epoch it holds, so a late one fails and changes nothing.
///
/// (The tag has 32 bits. To be fooled, a thread would have to stop between loading a word and its compare-exchange for
/// exactly 2^32 epochs, at least an hour, and then it would take a chunk that really is free, as everything that
/// describes the chunk is read after the exchange.)
class TaggedClaims {
 public:
    /// Host only, while no chunk of the former epoch is unfinished. `total` is the sum of
    /// chunks, 1..kMaxChunksPerEpoch.
    void open(std::uint32_t epoch, const Phase* phases, std::uint32_t count, std::uint32_t total) noexcept {
        // Plain writes to `phases_`: everyone who reads it holds a chunk, and nobody holds one now. The ends are read
        // before a claim too, hence atomics; relaxed, see phase_of().
        std::uint32_t end = 0;
        for (std::uint32_t index = 0; index < kMaxPhases; ++index) {
            if (index < count) {
                phases_[index] = phases[index];
                end += phases[index].chunks;
            }
            phase_end_[index].store(end, std::memory_order_relaxed);
        }
        // Relaxed: ordered before the head below, and a claim acquires that.
        done_.store(tagged(epoch, 0), std::memory_order_relaxed);
        // Release: who claims from this head (acquire, or a compare-exchange later in its release sequence) sees the
        // phases and the reset counter.
        head_.store(tagged(epoch, total << 16), std::memory_order_release);
    }

    /// Takes the next chunk of `epoch`, if one is left and its phase has begun.
    Claim claim(std::uint32_t epoch) noexcept {
        // Acquire: pairs with the release in open().
        std::uint64_t head = head_.load(std::memory_order_acquire);
        for (;;) {
            const std::uint32_t next = next_of(head);
            if (epoch_of(head) != epoch || next >= chunks_of(head)) return {Claim::Kind::nothing, 0, 0, 0, 0};
            const std::uint32_t phase = phase_of(next);
            const std::uint32_t start = phase == 0 ? 0 : phase_end_[phase - 1].load(std::memory_order_relaxed);
            // A closed gate is found out before the claim: a chunk that is held can always be computed at once, so a
            // thread that loses its core while it waits here keeps nobody waiting.
            if (start > 0 && !reached(epoch, start)) return {Claim::Kind::gate_closed, phase, 0, start, 0};
            const std::uint32_t end = phase_end_[phase].load(std::memory_order_relaxed);
            // Acquire: as above. Release is not needed for the winner's own sake, but keeps the word's history one
            // chain of synchronization, which costs nothing on x86 and a cheap flavour of the same on ARM.
            if (head_.compare_exchange_weak(head, head + 1, std::memory_order_acq_rel, std::memory_order_acquire)) {
                return {Claim::Kind::chunk, phase, next - start, start, end};
            }
        }
    }

    /// Valid while the caller holds a chunk of it.
    const Phase& phase(std::uint32_t index) const noexcept { return phases_[index]; }

    /// Counts a chunk as finished. Returns the number finished in its epoch, or 0 if that epoch is no longer open
    /// (possible only after it was given up as stalled).
    std::uint32_t finish(std::uint32_t epoch) noexcept {
        // Relaxed: only a guess for the exchange, nothing is read because of it.
        std::uint64_t done = done_.load(std::memory_order_relaxed);
        do {
            if (epoch_of(done) != epoch) return 0;
            // Release: what the chunk wrote is seen by who counts on it. Sequentially consistent: the finisher then
            // reads `waiters` (phase-gate.h), and the two must not change places.
        } while (!done_.compare_exchange_weak(done, done + 1, std::memory_order_seq_cst, std::memory_order_relaxed));
        return count_of(done) + 1;
    }

    /// Whether `count` chunks of `epoch` have finished.
    bool reached(std::uint32_t epoch, std::uint32_t count) const noexcept {
        // Acquire, for what the chunks wrote: every finish() is a read-modify-write, so the value read continues the
        // release sequences of all finishes before it. Sequentially consistent for the waiter's half of phase-gate.h.
        const std::uint64_t done = done_.load(std::memory_order_seq_cst);
        return epoch_of(done) == epoch && count_of(done) >= count;
    }

    /// Whether nothing of `epoch` is left to claim.
    bool exhausted(std::uint32_t epoch) const noexcept {
        // Acquire is not needed: the answer only decides whether to go on waiting.
        const std::uint64_t head = head_.load(std::memory_order_relaxed);
        return epoch_of(head) != epoch || next_of(head) >= chunks_of(head);
    }

    /// Chunks of the open epoch that were or can be claimed: the target of `done`. close() can only lower it.
    std::uint32_t target() const noexcept { return chunks_of(head_.load(std::memory_order_relaxed)); }

    std::uint32_t finished() const noexcept { return count_of(done_.load(std::memory_order_relaxed)); }

    /// Takes back what nobody has claimed: the epoch is complete when the chunks in hand are finished.
    void close() noexcept {
        std::uint64_t head = head_.load(std::memory_order_relaxed);
        std::uint64_t closed;
        do {
            const std::uint32_t next = next_of(head);
            if (next >= chunks_of(head)) return;
            closed = tagged(epoch_of(head), (next << 16) | next);
            // Relaxed: it publishes nothing; claims that lost against it see no chunk and read nothing.
        } while (!head_.compare_exchange_weak(head, closed, std::memory_order_relaxed, std::memory_order_relaxed));
    }

 private:
    /// Which phase chunk `next` lies in. Read before the claim, when the caller holds nothing yet, so the host may be
    /// writing the next epoch's ends at the same time; then this is a wrong answer, and never a believed one. If the
    /// exchange in claim() succeeds, chunk `next` of this epoch was unclaimed until then, so the epoch was incomplete;
    /// the host writes new ends only after it saw our own finish() of that chunk, which follows these reads. And they
    /// are not older than the epoch, for the head they belong to was acquired. If it fails, we start over.
    std::uint32_t phase_of(std::uint32_t next) const noexcept {
        std::uint32_t phase = 0;
        while (phase + 1 < kMaxPhases && next >= phase_end_[phase].load(std::memory_order_relaxed)) ++phase;
        return phase;
    }

    static std::uint64_t tagged(std::uint32_t epoch, std::uint32_t low) noexcept {
        return (static_cast<std::uint64_t>(epoch) << 32) | low;
    }
    static std::uint32_t epoch_of(std::uint64_t word) noexcept { return static_cast<std::uint32_t>(word >> 32); }
    static std::uint32_t chunks_of(std::uint64_t head) noexcept {
        return static_cast<std::uint32_t>(head >> 16) & 0xffff;
    }
    static std::uint32_t next_of(std::uint64_t head) noexcept { return static_cast<std::uint32_t>(head) & 0xffff; }
    static std::uint32_t count_of(std::uint64_t done) noexcept { return static_cast<std::uint32_t>(done); }

    /// epoch 32 | chunks 16 | next 16
    alignas(kCacheLine) std::atomic<std::uint64_t> head_{0};
    /// epoch 32 | finished 32
    alignas(kCacheLine) std::atomic<std::uint64_t> done_{0};
    alignas(kCacheLine) Phase phases_[kMaxPhases] = {};
    std::atomic<std::uint32_t> phase_end_[kMaxPhases] = {};
};

}  // namespace dormouse
