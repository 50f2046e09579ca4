#pragma once

#include <cstdint>
#include <vector>

namespace dormouse {

/// The rows (slot of a token) that one expert computes.
struct ExpertGroup {
    std::int32_t expert;
    std::uint32_t first;
    std::uint32_t count;
};

struct ExpertRow {
    std::int32_t slot;
    std::int32_t token;
};

/// Which experts are used, and by which rows. Memory grows to the largest graph seen, and then stays.
class ExpertGroups {
 public:
    void reserve(std::size_t rows, std::size_t experts);

    /// `ids(slot, token)` lies at ids + token * token_stride + slot * 4. False: an id is no expert, so nothing is
    /// grouped.
    bool assign(const char* ids, std::size_t token_stride, std::int64_t slots, std::int64_t tokens,
                std::int64_t experts) noexcept;
    /// One matrix for all tokens.
    void assign_dense(std::int64_t tokens) noexcept;

    std::uint32_t size() const noexcept { return group_count_; }
    std::uint32_t row_count() const noexcept { return row_count_; }
    const ExpertGroup& group(std::uint32_t index) const noexcept { return groups_[index]; }
    const ExpertRow* rows(const ExpertGroup& group) const noexcept { return rows_.data() + group.first; }

 private:
    std::vector<ExpertGroup> groups_;
    std::vector<ExpertRow> rows_;
    /// By expert: how many rows, then where the next one goes.
    std::vector<std::uint32_t> places_;
    std::uint32_t group_count_ = 0;
    std::uint32_t row_count_ = 0;
};

}  // namespace dormouse
