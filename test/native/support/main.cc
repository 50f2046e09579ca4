// `--list` prints "name<TAB>bug" lines; with names runs those, else all. Exit code 1 if one failed.
#include <cstring>
#include <unistd.h>

#include "test-case.h"

std::vector<TestCase>& all_tests() {
    static std::vector<TestCase> tests;
    return tests;
}

double test_scale() {
    const char* text = std::getenv("DORMOUSE_TEST_SCALE");
    return text != nullptr ? std::atof(text) : 1.0;
}

void fail_test(const char* file, int line, const std::string& what) {
    const char* name = std::strrchr(file, '/');
    std::printf("not ok: %s (%s:%d)\n", what.c_str(), name != nullptr ? name + 1 : file, line);
    std::fflush(stdout);
    // Other threads may be in the middle of anything, so nothing is torn down.
    _exit(1);
}

int main(int argc, char** argv) {
    if (argc == 2 && std::strcmp(argv[1], "--list") == 0) {
        for (const TestCase& test : all_tests()) std::printf("%s\t%s\n", test.name, test.bug);
        return 0;
    }
    int ran = 0;
    for (const TestCase& test : all_tests()) {
        bool wanted = argc == 1;
        for (int index = 1; index < argc; ++index) wanted = wanted || std::strcmp(argv[index], test.name) == 0;
        if (!wanted) continue;
        ++ran;
        const std::uint64_t started = dormouse::now_ns();
        std::printf("run %s\n", test.name);
        std::fflush(stdout);
        test.body();
        std::printf("ok %s (%.0f ms)\n", test.name, static_cast<double>(dormouse::now_ns() - started) / 1e6);
        std::fflush(stdout);
    }
    if (ran == 0) std::printf("not ok: no such test\n");
    return ran == 0 ? 1 : 0;
}
