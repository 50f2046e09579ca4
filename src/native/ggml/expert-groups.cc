#include "expert-groups.h"

#include <algorithm>
#include <cstring>

namespace dormouse {

namespace {

std::int32_t id_at(const char* ids, std::size_t token_stride, std::int64_t slot, std::int64_t token) noexcept {
    std::int32_t id;
    std::memcpy(&id, ids + static_cast<std::size_t>(token) * token_stride + static_cast<std::size_t>(slot) * sizeof id,
                sizeof id);
    return id;
}

}  // namespace

void ExpertGroups::reserve(std::size_t rows, std::size_t experts) {
    if (rows_.size() < rows) rows_.resize(rows);
    if (places_.size() < experts) places_.resize(experts);
    const std::size_t groups = std::min(rows_.size(), std::max<std::size_t>(places_.size(), 1));
    if (groups_.size() < groups) groups_.resize(groups);
}

bool ExpertGroups::assign(const char* ids, std::size_t token_stride, std::int64_t slots, std::int64_t tokens,
                          std::int64_t experts) noexcept {
    std::fill_n(places_.begin(), experts, 0U);
    for (std::int64_t token = 0; token < tokens; ++token) {
        for (std::int64_t slot = 0; slot < slots; ++slot) {
            const std::int32_t expert = id_at(ids, token_stride, slot, token);
            if (expert < 0 || expert >= experts) return false;
            ++places_[static_cast<std::size_t>(expert)];
        }
    }
    group_count_ = 0;
    row_count_ = 0;
    for (std::int32_t expert = 0; expert < experts; ++expert) {
        std::uint32_t& place = places_[static_cast<std::size_t>(expert)];
        const std::uint32_t count = place;
        place = row_count_;
        if (count > 0) groups_[group_count_++] = {expert, row_count_, count};
        row_count_ += count;
    }
    for (std::int64_t token = 0; token < tokens; ++token) {
        for (std::int64_t slot = 0; slot < slots; ++slot) {
            const auto expert = static_cast<std::size_t>(id_at(ids, token_stride, slot, token));
            rows_[places_[expert]++] = {static_cast<std::int32_t>(slot), static_cast<std::int32_t>(token)};
        }
    }
    return true;
}

void ExpertGroups::assign_dense(std::int64_t tokens) noexcept {
    row_count_ = static_cast<std::uint32_t>(tokens);
    groups_[0] = {0, 0, row_count_};
    group_count_ = 1;
    for (std::int32_t token = 0; token < static_cast<std::int32_t>(tokens); ++token) {
        rows_[static_cast<std::size_t>(token)] = {0, token};
    }
}

}  // namespace dormouse
