# ggml's headers, out of the source bundle that node-llama-cpp ships with its binaries, so that both are of one release.
# Unpacked into the build folder only. Sets GGML_INCLUDES, LLAMA_RELEASE and GGML_VERSION.

set(LLAMA_FOLDER "${NODE_MODULES}/node-llama-cpp/llama")
file(READ "${LLAMA_FOLDER}/binariesGithubRelease.json" BINARIES_JSON)
file(READ "${LLAMA_FOLDER}/llama.cpp.info.json" SOURCE_JSON)
string(JSON LLAMA_RELEASE GET "${BINARIES_JSON}" release)
string(JSON SOURCE_TAG GET "${SOURCE_JSON}" tag)
if(NOT LLAMA_RELEASE STREQUAL SOURCE_TAG)
  message(FATAL_ERROR "node-llama-cpp's binaries are ${LLAMA_RELEASE}, its source is ${SOURCE_TAG}")
endif()

set(LLAMA_SOURCE "${CMAKE_BINARY_DIR}/llama.cpp-${LLAMA_RELEASE}")
if(NOT EXISTS "${LLAMA_SOURCE}/.complete" OR NOT EXISTS "${LLAMA_SOURCE}/ggml/CMakeLists.txt")
  find_package(Git REQUIRED)
  file(REMOVE_RECURSE "${LLAMA_SOURCE}")
  execute_process(
    COMMAND "${GIT_EXECUTABLE}" clone --quiet --no-checkout "${LLAMA_FOLDER}/gitRelease.bundle" "${LLAMA_SOURCE}"
    COMMAND_ERROR_IS_FATAL ANY)
  execute_process(
    COMMAND "${GIT_EXECUTABLE}" -C "${LLAMA_SOURCE}" checkout --quiet HEAD --
      CMakeLists.txt LICENSE ggml/CMakeLists.txt ggml/include ggml/src
    COMMAND_ERROR_IS_FATAL ANY)
  # Only the checked-out headers are of use; the packed history is 34 MB.
  file(REMOVE_RECURSE "${LLAMA_SOURCE}/.git")
  file(TOUCH "${LLAMA_SOURCE}/.complete")
endif()

# The bundle carries no tag, so the source's own version has to be the recorded one.
file(STRINGS "${LLAMA_SOURCE}/CMakeLists.txt" VERSION_LINES REGEX "^set\\(LLAMA_VERSION_(MAJOR|MINOR|PATCH) +[0-9]+\\)")
string(REGEX REPLACE "[^0-9;]" "" VERSION_PARTS "${VERSION_LINES}")
list(JOIN VERSION_PARTS "." SOURCE_VERSION)
if(NOT "v${SOURCE_VERSION}" STREQUAL LLAMA_RELEASE)
  message(FATAL_ERROR "The source bundle is of v${SOURCE_VERSION}, node-llama-cpp's binaries are of ${LLAMA_RELEASE}")
endif()
# What ggml_version() answers at run time.
file(STRINGS "${LLAMA_SOURCE}/ggml/CMakeLists.txt" VERSION_LINES REGEX "^set\\(GGML_VERSION_(MAJOR|MINOR|PATCH) +[0-9]+\\)")
string(REGEX REPLACE "[^0-9;]" "" VERSION_PARTS "${VERSION_LINES}")
list(JOIN VERSION_PARTS "." GGML_VERSION)
foreach(HEADER ggml/include/ggml.h ggml/src/ggml-backend-impl.h ggml/src/ggml-impl.h)
  if(NOT EXISTS "${LLAMA_SOURCE}/${HEADER}")
    message(FATAL_ERROR "${HEADER} is missing from node-llama-cpp's source bundle")
  endif()
endforeach()
set(GGML_INCLUDES "${LLAMA_SOURCE}/ggml/include" "${LLAMA_SOURCE}/ggml/src")
message(STATUS "ggml headers of llama.cpp ${LLAMA_RELEASE}, ggml ${GGML_VERSION}")
