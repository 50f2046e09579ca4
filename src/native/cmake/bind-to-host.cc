// Windows only: whoever loaded the addon stands in for node.exe, whatever its file is called.
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#include <delayimp.h>
#include <string.h>

static FARPROC WINAPI bind_to_host(unsigned int event, DelayLoadInfo* info) {
    if (event != dliNotePreLoadLibrary || _stricmp(info->szDll, "node.exe") != 0) return nullptr;
    return reinterpret_cast<FARPROC>(GetModuleHandle(nullptr));
}

extern "C" const PfnDliHook __pfnDliNotifyHook2 = bind_to_host;
