#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "spin-wait.h"

/// A named test in one of the programs. `bug` says which mistake it would catch.
struct TestCase {
    const char* name;
    const char* bug;
    void (*body)();
};

std::vector<TestCase>& all_tests();

struct RegisterTest {
    RegisterTest(const char* name, const char* bug, void (*body)()) { all_tests().push_back({name, bug, body}); }
};

#define TEST_JOIN2(a, b) a##b
#define TEST_JOIN(a, b) TEST_JOIN2(a, b)
#define TEST(name, bug)                                                                                     \
    static void TEST_JOIN(test_body_, __LINE__)();                                                          \
    static const RegisterTest TEST_JOIN(test_entry_, __LINE__)(name, bug, TEST_JOIN(test_body_, __LINE__)); \
    static void TEST_JOIN(test_body_, __LINE__)()

[[noreturn]] void fail_test(const char* file, int line, const std::string& what);

#define CHECK(condition)                                             \
    do {                                                             \
        if (!(condition)) fail_test(__FILE__, __LINE__, #condition); \
    } while (false)

#define CHECK_EQUAL(actual, expected)                                                                                  \
    do {                                                                                                               \
        const auto actual_value = (actual);                                                                            \
        const auto expected_value = (expected);                                                                        \
        if (!(actual_value == expected_value)) {                                                                       \
            fail_test(__FILE__, __LINE__,                                                                              \
                      #actual " is " + std::to_string(actual_value) + ", expected " + std::to_string(expected_value)); \
        }                                                                                                              \
    } while (false)

/// Scales loops: 1 as a plain build runs in `npm test`; less under a sanitizer, more in the soak (DORMOUSE_TEST_SCALE).
double test_scale();

inline constexpr std::uint64_t kWatchdogNs = 240'000'000'000;

/// Waits until `condition()`; a test that waits for ever is a failed one.
template <class Condition>
void eventually(const char* what, Condition&& condition) {
    const std::uint64_t started = dormouse::now_ns();
    while (!condition()) {
        if (dormouse::now_ns() - started > kWatchdogNs)
            fail_test("eventually", 0, std::string("never happened: ") + what);
        std::this_thread::yield();
    }
}

/// Computes for about that long, as a chunk would.
inline void burn(std::uint64_t nanoseconds) {
    const std::uint64_t until = dormouse::now_ns() + nanoseconds;
    while (dormouse::now_ns() < until) {
    }
}
