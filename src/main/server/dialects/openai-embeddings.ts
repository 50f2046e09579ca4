import { z } from 'zod';
import type { Embeddings } from '../../services/interfaces.ts';
import type { Read } from './dialect.ts';
import { readWith, unsupportedUnless } from './read-request.ts';
import { modelField, toModel } from './request-fields.ts';

const text = z.string().min(1);
const tokens = z.array(z.number().int().min(0).max(10_000_000)).min(1).max(1_000_000);

/** The body of `POST /v1/embeddings`. Unknown fields are ignored. */
export const embeddingsRequestSchema = z.object({
  model: modelField,
  input: z.union([text, z.array(text).min(1).max(2048), tokens, z.array(tokens).min(1).max(2048)], {
    error: 'expected a text, a list of token ids, or up to 2048 of them, none empty',
  }),
  encoding_format: z.enum(['float', 'base64']).nullish(),
  dimensions: unsupportedUnless(() => false, 'Shortening (dimensions)'),
});

export type EmbeddingsRequest = {
  readonly model: string | null;
  readonly inputs: readonly (string | readonly number[])[];
  readonly base64: boolean;
};

export function readEmbeddingsRequest(body: unknown): Read<EmbeddingsRequest> {
  const read = readWith(embeddingsRequestSchema, body);
  if (!read.ok) return read;
  const { model, input, encoding_format: encoding } = read.data;
  const inputs = typeof input === 'string' || typeof input[0] === 'number' ? [input as string | number[]] : input;
  return {
    ok: true,
    data: { model: toModel(model), inputs: inputs as EmbeddingsRequest['inputs'], base64: encoding === 'base64' },
  };
}

export function embeddingsReply(model: string, { vectors, promptTokens }: Embeddings, base64: boolean) {
  const data = vectors.map((vector, index) => ({
    object: 'embedding' as const,
    index,
    embedding: base64 ? encode(vector) : vector,
  }));
  return { object: 'list' as const, data, model, usage: { prompt_tokens: promptTokens, total_tokens: promptTokens } };
}

/** Little-endian 32-bit floats, whatever the byte order of this computer. */
function encode(vector: readonly number[]): string {
  const bytes = new DataView(new ArrayBuffer(vector.length * 4));
  for (const [index, value] of vector.entries()) bytes.setFloat32(index * 4, value, true);
  return Buffer.from(bytes.buffer).toString('base64');
}
