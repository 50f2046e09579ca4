import type { Hash } from 'node:crypto';
import type { LlamaContextSequence, Token } from 'node-llama-cpp';

/**
 * Evaluates `token` and takes the likeliest next one, also beyond an end of turn: lengths have to agree, not the sense.
 * @param hash takes the probabilities of the whole vocabulary, bit by bit.
 */
export async function greedyStep(sequence: LlamaContextSequence, token: Token, hash: Hash): Promise<Token> {
  const [answer] = await sequence.controlledEvaluate([
    [token, { generateNext: { probabilities: true, options: { temperature: 0 } } }],
  ]);
  const probabilities = answer?.next.probabilities;
  if (probabilities === undefined) throw new Error('no probabilities');
  const row = new Float32Array(probabilities.size);
  for (const [id, probability] of probabilities) row[id] = probability;
  hash.update(Buffer.from(row.buffer));
  return row.indexOf(row.reduce((most, value) => Math.max(most, value))) as Token;
}
