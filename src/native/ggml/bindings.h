#pragma once

#include <napi.h>

namespace dormouse {

/// Adds to the addon's exports (everything that crosses is a plain copied object; wrong types throw a TypeError):
///  * install({gpu?, threads?, affinity?, spinMs?, govern?, fuse?}) -> {installed, reason?}: after getLlama() and before
///    models are loaded. `gpu` is the `gpu` of the Llama in use, `threads` counts host and workers (0: by the machine),
///    `affinity` is "off", "auto" or "p-cores", `spinMs` a number or "always"; `govern: false` keeps every worker at
///    work and ggml's threads as many as they are, also on a machine that others keep busy; `fuse: false` computes FFNs
///    node by node. Again at any time: changes the options.
///  * uninstall() -> boolean: restores everything; waits for graphs under way. False: one does not end.
///  * configure({threads?, affinity?, spinMs?, govern?, fuse?}): for graphs from now on.
///  * stats() -> {installed, registries, backends, stopRequested, pool: {epoch, jobs, sleepers, wakes, threads, spinMs,
///    hostMs, hostWaitMs, governor, workers} | null, graphs, poolNodes, originalNodes, units, plans, aborted, failed,
///    weightBytes, phaseMs: {convert, gateUp, activation, down, expert, dense, originalSmall, originalLarge},
///    expertHits: number[layer][expert]}. Times of phases are sums over the threads.
///  * devices({gpu}) -> {devices: [{name, description, integrated, sharesMemory, freeBytes, totalBytes, used}], kept:
///    {tensors, layers, bytes}, reason?}: the graphics devices now, and what `place` has kept in RAM since its last call.
///  * place({gpu, expertLayers, device?}) -> {placed, reason?}: the next load leaves the experts of the first
///    `expertLayers` layers in RAM and puts the rest on `device` alone (none: on all). Works without `install`.
///    `uninstall` ends it.
///  * requestStop(), clearStop(): between the two every graph ends at its next chunk or node, as a failed evaluation.
void register_ggml(Napi::Env env, Napi::Object exports);

}  // namespace dormouse
