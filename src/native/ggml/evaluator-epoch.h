#pragma once

// What an evaluator hands to the workers. Included by evaluator*.cc only.

#include "evaluator.h"

namespace dormouse {

struct Evaluator::Epoch {
    /// Memory of the given size, 64-byte aligned, that only ever grows.
    class Scratch {
     public:
        void reserve(std::size_t bytes) {
            if (memory_.size() * kLine >= bytes) return;
            memory_.resize((bytes + kLine - 1) / kLine);
        }
        char* data() noexcept { return reinterpret_cast<char*>(memory_.data()); }

     private:
        static constexpr std::size_t kLine = 64;
        struct alignas(kLine) Line {
            char bytes[kLine];
        };
        std::vector<Line> memory_;
    };

    void reserve(const ScratchNeeds& needs) {
        converted_input.reserve(needs.converted_input);
        hidden.reserve(needs.hidden);
        converted_hidden.reserve(needs.converted_hidden);
        groups.reserve(needs.rows, needs.experts);
    }

    ExpertGroups groups;
    ConvertPhase convert;
    /// gate and up, or a single product.
    DotPhase first;
    ActivationProgram program;
    ActivationPhase activation;
    DotPhase down;
    Scratch converted_input;
    Scratch hidden;
    Scratch converted_hidden;
};

}  // namespace dormouse
