/**
 * Flags for every Node process that runs the engine. V8 collects garbage on several threads some seconds after the last
 * work, 0.1 s of CPU time in all: an idle engine shall cost nothing. What is garbage then is collected at the next use.
 * Told at the start: V8 takes it no later.
 */
export const engineNodeFlags = ['--no-memory-reducer'];
