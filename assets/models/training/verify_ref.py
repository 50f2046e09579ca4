#!/usr/bin/env python3
"""PyTorch side of the checks: verify_ref.py MOE.pt tokenizer.json CORPUS DATA OUT.json  (then run verify.mjs)"""
import json, os, random, re, sys
import numpy as np, torch
from train import Ref, load, Data
from tokenizer import Tokenizer
moe, tok, corpus, data, out = sys.argv[1:6]
torch.set_num_threads(2)
T = Tokenizer(tok); c, P, d = load(moe); R = Ref(c, P)
rnd = random.Random(11)
lines = [l for l in open(corpus, encoding='utf-8').read().split('\n') if l]
L = [T.tokens and x for x in rnd.sample(lines, 200)] + ['Hello  world\n\n\nnew', "I'm can't you'll we've HE'S", '  leading and trailing  ', 'naïve café über 東京 😀 x_y__z 3.14159 1,000', 'tabs\tand\r\nlines', '<|im_start|>user\nhi<|im_end|>\n']
res = dict(lines=[dict(text=x, ids=T.encode(x)) for x in L])
HJ = json.load(open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "heldout.json"), encoding="utf-8")); H = HJ["prompts"]
norm = lambda s: re.sub(r'[^a-z0-9 ]', '', s.lower()).strip()
users = {norm(x) for x in re.findall(r'<\|im_start\|>user\n(.*?)<\|im_end\|>', open(corpus, encoding='utf-8').read())}
seen = [h for h in H + HJ.get("fresh", []) + HJ.get("blind", []) if norm(h) in users]; print('held-out prompts that occur in the corpus:', seen); res['seen'] = seen
res['greedy'] = []
with torch.no_grad():
    for h in H[:20]:
        ids = T.encode(f'<|im_start|>user\n{h}<|im_end|>\n<|im_start|>assistant\n')
        g = R.greedy(ids, 30, stop=(T.end,))
        full = R(torch.tensor([ids + g[:-1]]))[0, len(ids) - 1:]
        lp = full.log_softmax(-1); top2 = full.topk(2, -1).values; pr = lp.exp()
        res['greedy'].append(dict(prompt=h, ids=ids, out=g, text=T.decode(g), p=[float(pr[i, t]) for i, t in enumerate(g)], margin=[float(a - b) for a, b in top2],
            top=[{int(j): float(v) for v, j in zip(*pr[i].topk(5))} for i in range(len(g))]))
    V = Data(data, 512, 8, 0, 'val'); V.refill(); hist = np.zeros((c['L'], c['E'])); n = 0; ls = np.zeros(2); la = np.zeros(2)
    for _ in range(min(3, len(V.rows) // 8)):
        a, b, w, st = V.batch(); stats = []
        lg = R(a.long(), st.long(), stats=stats); hist += np.array(stats)
        l = torch.nn.functional.cross_entropy(lg.reshape(-1, c['V']), b.reshape(-1).long(), reduction='none'); w = w.reshape(-1)
        ls += [float((l * w).sum()), float(w.sum())]; la += [float(l[w > .5].sum()), float((w > .5).sum())]
share = hist / hist.sum(1, keepdims=True)
print('expert share of the routed tokens per layer (1/8 = 0.125 is even):'); print(np.array2string(share, precision=3, suppress_small=True))
print('fp32 val loss', ls[0] / ls[1], 'assistant', la[0] / la[1])
res.update(experts=share.tolist(), val=ls[0] / ls[1], val_assistant=la[0] / la[1], tokens=d.get('tokens'), step=d.get('step'))
json.dump(res, open(out, 'w'))
