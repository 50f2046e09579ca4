#!/usr/bin/env bash
# All steps of the training, from the corpus to the checks. Run it in a folder that git ignores: it writes large files.
# Needs Python 3 with numpy, torch and llama.cpp's gguf-py (GGUF_PY), and some 45 minutes on two cores.
set -euo pipefail
S=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
python3 "$S"/corpus.py 2026 11.8 corpus.txt                            # the same text every time
python3 "$S"/tokenizer.py train corpus.txt tokenizer.json              # gives the tokenizer.json of this folder
python3 "$S"/tokenizer.py prep corpus.txt tokenizer.json data
python3 "$S"/train.py check
python3 "$S"/train.py moe   --data data --out moe.pt   --lr 2.5e-3 --minutes 28      # or --iters 3910
python3 "$S"/train.py dense --data data --out draft.pt --lr 4e-3   --minutes 7.9     # or --iters 3292
python3 "$S"/corpus.py 7 10 corpus2.txt 2 && python3 "$S"/tokenizer.py prep corpus2.txt tokenizer.json data2
python3 "$S"/train.py moe --init moe.pt --data data2 --out moe2.pt --lr 8e-4 --warmup 40 --seed 99 --minutes 5.3   # or --iters 521
python3 "$S"/export.py moe2.pt draft.pt tokenizer.json . --gguf-py "${GGUF_PY:?}"
cat corpus.txt corpus2.txt > both.txt
python3 "$S"/verify_ref.py moe2.pt tokenizer.json both.txt data2 ref.json
node "$S"/verify.mjs ref.json . samples.txt                            # tokenizer, greedy text, chats, draft model
node "$S"/accuracy.mjs dormouse-mini.gguf                              # exact facts; also runs on the shipped file
