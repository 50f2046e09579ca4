#pragma once

#include <string>
#include <vector>

namespace dormouse {

/// A shared library that is loaded into this process.
struct Module {
    std::string path;
    std::string name() const;
};

std::vector<Module> loaded_modules();

/// Address of an exported symbol of a loaded module, or null. The module stays loaded from then on.
void* find_symbol(const Module& module, const char* symbol);

/// This addon itself stays loaded for the life of the process: foreign tables keep pointers into it.
void stay_loaded();

}  // namespace dormouse
