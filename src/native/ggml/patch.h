#pragma once

#include <atomic>

namespace dormouse {

// Patching. A table entry is one aligned pointer that other threads read without any lock, as they always did. It is
// swapped by one atomic store, so a reader finds the old function or the new one, and both work at any time:
//  * the original knows nothing of us;
//  * ours, called after uninstall through a pointer read before it, finds itself switched off and passes the call on.
// Release order: who reads the new pointer also sees what it needs, which was announced before.
template <class Function>
void patch(Function& entry, Function replacement) {
    std::atomic_ref<Function>(entry).store(replacement, std::memory_order_release);
}

}  // namespace dormouse
