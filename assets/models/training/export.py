#!/usr/bin/env python3
"""Writes GGUF files for llama.cpp from the training checkpoints.

  export.py MOE.pt DRAFT.pt tokenizer.json OUTDIR --gguf-py DIR
"""
import argparse, json, os, sys
import numpy as np, torch
ap = argparse.ArgumentParser()
ap.add_argument('moe'); ap.add_argument('draft'); ap.add_argument('tokenizer'); ap.add_argument('out')
ap.add_argument('--gguf-py', required=True, help="llama.cpp's gguf-py folder")
a = ap.parse_args()
sys.path.insert(0, a.gguf_py)
import gguf
from gguf import GGUFWriter, GGMLQuantizationType as T, LlamaFileType as FT

TEMPLATE = ("{% for message in messages %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}{% endfor %}"
            "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}")

def write(ckpt, path, q, name, desc):
    d = torch.load(ckpt); c, P = d['cfg'], {k: v.float().numpy() for k, v in d['params'].items()}
    moe = c['kind'] == 'moe'; tok = json.load(open(a.tokenizer, encoding='utf-8')); V = len(tok['tokens']); assert V == c['V'] == 2048
    w = GGUFWriter(path, 'qwen3moe' if moe else 'qwen3')
    w.add_type('model'); w.add_name(name); w.add_description(desc); w.add_license('MIT'); w.add_author('Dormouse'); w.add_version('1.0')
    w.add_size_label('8x0.6M' if moe else '0.4M'); w.add_tags(['text-generation', 'demo']); w.add_languages(['en'])
    w.add_file_type(FT.MOSTLY_Q8_0 if q == T.Q8_0 else FT.MOSTLY_F16); w.add_quantization_version(gguf.GGML_QUANT_VERSION)
    w.add_context_length(c['ctx']); w.add_embedding_length(c['D']); w.add_block_count(c['L'])
    w.add_feed_forward_length(c['FF'] * c['K'] if moe else c['FF'])
    w.add_head_count(c['H']); w.add_head_count_kv(c['KV']); w.add_key_length(c['HD']); w.add_value_length(c['HD'])
    w.add_rope_dimension_count(c['HD']); w.add_rope_freq_base(c['theta']); w.add_layer_norm_rms_eps(c['eps']); w.add_vocab_size(V)
    if moe: w.add_expert_count(c['E']); w.add_expert_used_count(c['K']); w.add_expert_feed_forward_length(c['FF'])
    w.add_tokenizer_model('gpt2'); w.add_tokenizer_pre('gpt-2'); w.add_token_list(tok['tokens'])
    sp = {t: i for i, t in enumerate(tok['tokens']) if t.startswith('<|') and t.endswith('|>')}; assert len(sp) == 3
    w.add_token_types([3 if t in sp else 1 for t in tok['tokens']]); w.add_token_merges(tok['merges'])
    w.add_bos_token_id(sp['<|endoftext|>']); w.add_eos_token_id(sp['<|im_end|>']); w.add_eot_token_id(sp['<|im_end|>']); w.add_pad_token_id(sp['<|endoftext|>'])
    w.add_add_bos_token(False); w.add_add_eos_token(False); w.add_chat_template(TEMPLATE)
    n = [0]
    def mat(k, x):
        x = np.ascontiguousarray(x, dtype=np.float32); n[0] += x.size
        if q == T.Q8_0: w.add_tensor(k, gguf.quants.quantize(x, T.Q8_0), raw_dtype=T.Q8_0)
        else: w.add_tensor(k, x.astype(np.float16))
    def vec(k, x): n[0] += x.size; w.add_tensor(k, np.ascontiguousarray(x, dtype=np.float32))
    mat('token_embd.weight', P['emb']); vec('output_norm.weight', P['nf'])     # no output.weight: tied embeddings
    H, KV, HD, FF = c['H'], c['KV'], c['HD'], c['FF']
    for i in range(c['L']):
        b, p = f'blk.{i}.', lambda k: P[f'{i}.{k}']
        qkv = p('wqkv')
        vec(b + 'attn_norm.weight', p('n1')); mat(b + 'attn_q.weight', qkv[:H * HD]); mat(b + 'attn_k.weight', qkv[H * HD:(H + KV) * HD]); mat(b + 'attn_v.weight', qkv[(H + KV) * HD:])
        mat(b + 'attn_output.weight', p('wo')); vec(b + 'attn_q_norm.weight', p('qn')); vec(b + 'attn_k_norm.weight', p('kn')); vec(b + 'ffn_norm.weight', p('n2'))
        if moe:
            vec(b + 'ffn_gate_inp.weight', p('router')); gu = p('wgu')
            mat(b + 'ffn_gate_exps.weight', gu[:, :FF]); mat(b + 'ffn_up_exps.weight', gu[:, FF:]); mat(b + 'ffn_down_exps.weight', p('wd'))
        else:
            gu = p('wgu'); mat(b + 'ffn_gate.weight', gu[:FF]); mat(b + 'ffn_up.weight', gu[FF:]); mat(b + 'ffn_down.weight', p('wd'))
    w.write_header_to_file(); w.write_kv_data_to_file(); w.write_tensors_to_file(); w.close()
    print(path, os.path.getsize(path), 'bytes', n[0], 'parameters')

MOE_DESC = ('A tiny mixture of experts chat model (5.5 million parameters, 4 layers, 8 experts, 2 used) trained from scratch on synthetic dialogues. '
            'Offline demo model of the Dormouse app; it knows very little. Load a bigger model for real work.')
os.makedirs(a.out, exist_ok=True)
if a.moe != '-':
    write(a.moe, f'{a.out}/dormouse-mini.gguf', T.Q8_0, 'Dormouse Mini', MOE_DESC)
    write(a.moe, f'{a.out}/dormouse-mini-f16.gguf', T.F16, 'Dormouse Mini', MOE_DESC)
if a.draft != '-':
    write(a.draft, f'{a.out}/dormouse-draft.gguf', T.Q8_0, 'Dormouse Draft', 'A tiny dense draft model (0.4 million parameters) with the vocabulary of Dormouse Mini, for speculative decoding.')
