import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import { join, resolve } from 'node:path';
import process from 'node:process';
import { bool, float32, int32Array, readEntries, text, uint32, writeGguf } from './gguf.ts';
import type { Entry, TensorSpec } from './gguf.ts';

/**
 * Tiny Mixture-of-Experts models with random weights, one for each architecture whose expert FFN differs: they talk
 * nonsense, but llama.cpp builds the real graph for each. Made once, kept in build/.
 */

const root = resolve(import.meta.dirname, '../..');

const width = 128;
const inner = 96;
const shared = 64;
const dense = 192;
const layers = 3;
const experts = 8;
const used = 3;
const heads = 4;
const keyHeads = 2;
const headSize = 32;
const vocabulary = 2048;

type Values = Readonly<Record<string, Entry>>;
type Architecture = {
  /** As in `general.architecture`. */
  readonly name: string;
  readonly values: Values;
  /** Layers without experts come first. */
  readonly denseLayers?: number;
  readonly layer: (block: string, index: number) => readonly TensorSpec[];
};

const ones = (name: string, ...shape: number[]): TensorSpec => ({ name, shape, type: 'f32', fill: { constant: 1 } });
const floats = (name: string, size: number, ...shape: number[]): TensorSpec => ({
  name,
  shape,
  type: 'f32',
  fill: { random: size },
});
const matrix = (name: string, ...shape: number[]): TensorSpec => ({
  name,
  shape,
  type: 'q8_0',
  fill: { random: 0.25 },
});
const mxfp4 = (name: string, ...shape: number[]): TensorSpec => ({ name, shape, type: 'mxfp4', fill: { random: 1 } });

function attention(block: string): TensorSpec[] {
  return [
    ones(`${block}attn_norm.weight`, width),
    matrix(`${block}attn_q.weight`, width, heads * headSize),
    matrix(`${block}attn_k.weight`, width, keyHeads * headSize),
    matrix(`${block}attn_v.weight`, width, keyHeads * headSize),
    matrix(`${block}attn_output.weight`, heads * headSize, width),
  ];
}

const headNorms = (block: string): TensorSpec[] => [
  ones(`${block}attn_q_norm.weight`, headSize),
  ones(`${block}attn_k_norm.weight`, headSize),
];

function expertTensors(block: string, hidden: number, make: typeof matrix = matrix): TensorSpec[] {
  return [
    floats(`${block}ffn_gate_inp.weight`, 0.3, width, experts),
    make(`${block}ffn_gate_exps.weight`, width, hidden, experts),
    make(`${block}ffn_up_exps.weight`, width, hidden, experts),
    make(`${block}ffn_down_exps.weight`, hidden, width, experts),
  ];
}

const feedForward = (block: string, ending: string, hidden: number): TensorSpec[] => [
  matrix(`${block}ffn_gate${ending}.weight`, width, hidden),
  matrix(`${block}ffn_up${ending}.weight`, width, hidden),
  matrix(`${block}ffn_down${ending}.weight`, hidden, width),
];

const qwen3moe: Architecture = {
  name: 'qwen3moe',
  values: {},
  layer: (block) => [
    ...attention(block),
    ...headNorms(block),
    ones(`${block}ffn_norm.weight`, width),
    ...expertTensors(block, inner),
  ],
};

/** Linear attention in every other layer; gate and up fused; a gated shared expert. */
const qwen35moe: Architecture = {
  name: 'qwen35moe',
  values: {
    'rope.dimension_sections': int32Array([8, 4, 4, 0]),
    'ssm.conv_kernel': uint32(4),
    'ssm.inner_size': uint32(128),
    'ssm.state_size': uint32(headSize),
    'ssm.time_step_rank': uint32(4),
    'ssm.group_count': uint32(2),
    full_attention_interval: uint32(2),
    expert_shared_feed_forward_length: uint32(shared),
  },
  layer: (block, index) => [
    ...(index % 2 === 1
      ? [
          ...attention(block).filter(({ name }) => !name.includes('attn_q.')),
          matrix(`${block}attn_q.weight`, width, heads * headSize * 2),
          ...headNorms(block),
        ]
      : linearAttention(block)),
    ones(`${block}post_attention_norm.weight`, width),
    floats(`${block}ffn_gate_inp.weight`, 0.3, width, experts),
    matrix(`${block}ffn_gate_up_exps.weight`, width, inner * 2, experts),
    matrix(`${block}ffn_down_exps.weight`, inner, width, experts),
    floats(`${block}ffn_gate_inp_shexp.weight`, 0.3, width),
    ...feedForward(block, '_shexp', shared),
  ],
};

function linearAttention(block: string): TensorSpec[] {
  const values = 4 * headSize;
  const mixed = 2 * 2 * headSize + values;
  return [
    ones(`${block}attn_norm.weight`, width),
    matrix(`${block}attn_qkv.weight`, width, mixed),
    matrix(`${block}attn_gate.weight`, width, values),
    floats(`${block}ssm_conv1d.weight`, 0.5, 4, mixed),
    floats(`${block}ssm_dt.bias`, 0.5, 4),
    { name: `${block}ssm_a`, shape: [4], type: 'f32', fill: { constant: -0.5 } },
    matrix(`${block}ssm_beta.weight`, width, 4),
    matrix(`${block}ssm_alpha.weight`, width, 4),
    ones(`${block}ssm_norm.weight`, headSize),
    matrix(`${block}ssm_out.weight`, values, width),
  ];
}

/** MXFP4 experts, a bias on everything, its own clamped SwiGLU, attention sinks. */
const gptOss: Architecture = {
  name: 'gpt-oss',
  values: { 'attention.sliding_window': uint32(64) },
  layer: (block) => [
    ...attention(block),
    floats(`${block}attn_output.bias`, 0.1, width),
    floats(`${block}attn_sinks.weight`, 0.5, heads),
    ones(`${block}post_attention_norm.weight`, width),
    ...expertTensors(block, inner, mxfp4),
    floats(`${block}ffn_gate_inp.bias`, 0.1, experts),
    floats(`${block}ffn_gate_exps.bias`, 0.5, inner, experts),
    floats(`${block}ffn_up_exps.bias`, 0.5, inner, experts),
    floats(`${block}ffn_down_exps.bias`, 0.5, width, experts),
  ],
};

/** Latent attention, a dense first layer, shared expert, routing in groups with a bias. */
const deepseek2: Architecture = {
  name: 'deepseek2',
  denseLayers: 1,
  values: {
    'attention.head_count_kv': uint32(heads),
    'attention.key_length': uint32(48),
    'rope.dimension_count': uint32(16),
    'attention.q_lora_rank': uint32(64),
    'attention.kv_lora_rank': uint32(64),
    leading_dense_block_count: uint32(1),
    expert_shared_count: uint32(1),
    expert_group_count: uint32(4),
    expert_group_used_count: uint32(2),
    expert_gating_func: uint32(2),
    expert_weights_norm: bool(true),
    expert_weights_scale: float32(1.5),
  },
  layer: (block, index) => [
    ones(`${block}attn_norm.weight`, width),
    ones(`${block}attn_q_a_norm.weight`, 64),
    ones(`${block}attn_kv_a_norm.weight`, 64),
    matrix(`${block}attn_q_a.weight`, width, 64),
    matrix(`${block}attn_q_b.weight`, 64, heads * 48),
    matrix(`${block}attn_kv_a_mqa.weight`, width, 64 + 16),
    matrix(`${block}attn_kv_b.weight`, 64, heads * (32 + headSize)),
    matrix(`${block}attn_output.weight`, heads * headSize, width),
    ones(`${block}ffn_norm.weight`, width),
    ...(index === 0
      ? feedForward(block, '', dense)
      : [
          ...expertTensors(block, inner),
          floats(`${block}exp_probs_b.bias`, 0.1, experts),
          ...feedForward(block, '_shexp', inner),
        ]),
  ],
};

const granitemoe: Architecture = {
  name: 'granitemoe',
  values: {
    logit_scale: float32(2),
    residual_scale: float32(0.5),
    embedding_scale: float32(1.5),
    'attention.scale': float32(0.2),
    expert_shared_feed_forward_length: uint32(shared),
  },
  layer: (block) => [
    ...attention(block),
    ones(`${block}ffn_norm.weight`, width),
    ...expertTensors(block, dense),
    ...feedForward(block, '_shexp', shared),
  ],
};

const mixtral: Architecture = {
  name: 'llama',
  values: {},
  layer: (block) => [...attention(block), ones(`${block}ffn_norm.weight`, width), ...expertTensors(block, dense)],
};

const olmoe: Architecture = {
  name: 'olmoe',
  values: { 'attention.head_count_kv': uint32(heads) },
  layer: (block) => [
    ...attention(block).filter(({ name }) => !/attn_[kv]\./.test(name)),
    matrix(`${block}attn_k.weight`, width, width),
    matrix(`${block}attn_v.weight`, width, width),
    ones(`${block}attn_q_norm.weight`, width),
    ones(`${block}attn_k_norm.weight`, width),
    ones(`${block}ffn_norm.weight`, width),
    ...expertTensors(block, dense),
  ],
};

const glm4moe: Architecture = {
  name: 'glm4moe',
  denseLayers: 1,
  values: {
    leading_dense_block_count: uint32(1),
    expert_shared_count: uint32(1),
    expert_gating_func: uint32(2),
    expert_weights_norm: bool(true),
  },
  layer: (block, index) => [
    ...attention(block),
    ...headNorms(block),
    ones(`${block}post_attention_norm.weight`, width),
    ...(index === 0
      ? feedForward(block, '', dense)
      : [
          ...expertTensors(block, inner),
          floats(`${block}exp_probs_b.bias`, 0.1, experts),
          ...feedForward(block, '_shexp', inner),
        ]),
  ],
};

const architectures = { qwen3moe, qwen35moe, gptOss, deepseek2, granitemoe, mixtral, olmoe, glm4moe } as const;

export type MoeModel = keyof typeof architectures;
export const moeModels = Object.keys(architectures) as readonly MoeModel[];

/** Layers with experts, each of which is one FFN unit. */
export const expertLayers = (model: MoeModel): number => {
  const { denseLayers }: Architecture = architectures[model];
  return layers - (denseLayers ?? 0);
};

function entriesOf({ name, values }: Architecture): Map<string, Entry> {
  const builtin = readEntries(readFileSync(join(root, 'assets/models/dormouse-mini.gguf')));
  const entries = new Map([...builtin].filter(([key]) => !key.startsWith('qwen3moe.')));
  entries.set('general.architecture', text(name));
  entries.set('general.name', text(`Tiny ${name}`));
  const all: Values = {
    context_length: uint32(1024),
    embedding_length: uint32(width),
    block_count: uint32(layers),
    feed_forward_length: uint32(dense),
    expert_feed_forward_length: uint32(inner),
    expert_count: uint32(experts),
    expert_used_count: uint32(used),
    vocab_size: uint32(vocabulary),
    'attention.head_count': uint32(heads),
    'attention.head_count_kv': uint32(keyHeads),
    'attention.key_length': uint32(headSize),
    'attention.value_length': uint32(headSize),
    'attention.layer_norm_rms_epsilon': float32(1e-5),
    'rope.dimension_count': uint32(headSize),
    'rope.freq_base': float32(10_000),
    ...values,
  };
  for (const [key, entry] of Object.entries(all)) entries.set(`${name}.${key}`, entry);
  return entries;
}

export function moeModelPath(model: MoeModel): string {
  const architecture: Architecture = architectures[model];
  const path = join(root, 'build/test-models', `tiny-${architecture.name}.gguf`);
  if (existsSync(path)) return path;
  mkdirSync(join(root, 'build/test-models'), { recursive: true });
  const tensors = [
    floats('token_embd.weight', 1, width, vocabulary),
    ones('output_norm.weight', width),
    matrix('output.weight', width, vocabulary),
  ];
  for (let index = 0; index < layers; index++) tensors.push(...architecture.layer(`blk.${index}.`, index));
  const part = `${path}.${process.pid}`;
  writeGguf(part, entriesOf(architecture), tensors);
  renameSync(part, path);
  return path;
}
