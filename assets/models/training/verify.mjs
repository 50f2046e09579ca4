// llama.cpp side of the checks (node-llama-cpp): node verify.mjs REF.json OUTDIR SAMPLES.txt [section...]
import fs from 'node:fs';
import {createRequire} from 'node:module';
import {pathToFileURL} from 'node:url';
const NLC = process.env.NLC ? pathToFileURL(process.env.NLC).href : 'node-llama-cpp';
const {getLlama, LlamaLogLevel, LlamaChatSession, DraftSequenceTokenPredictor} = await import(NLC);
const [,, refPath, dir, samplesPath] = process.argv;
const ref = JSON.parse(fs.readFileSync(refPath)), held = JSON.parse(fs.readFileSync(new URL('./heldout.json', import.meta.url)));
const llama = await getLlama({gpu: false, logLevel: LlamaLogLevel.warn, logger: (l, m) => process.stderr.write(`[${l}] ${m}\n`)});
llama.maxThreads = 2;
const TH = Number(process.env.THREADS || 2); const report = {};
const f16 = await llama.loadModel({modelPath: `${dir}/dormouse-mini-f16.gguf`, gpuLayers: 0});
// 1. tokenizer
let bad = 0;
for (const {text, ids} of ref.lines) {
    const got = f16.tokenize(text, true);
    if (JSON.stringify([...got]) !== JSON.stringify(ids)) { bad++; console.log('TOKENIZER MISMATCH', JSON.stringify(text), [...got].join(' '), '|', ids.join(' ')); }
}
report.tokenizer = {lines: ref.lines.length, mismatches: bad}; console.log('tokenizer: lines', ref.lines.length, 'mismatches', bad);
// 2. greedy tokens
async function greedyCheck(model, label, kc = undefined) {
    const ctx = await model.createContext({contextSize: 512, batchSize: 256, threads: TH, ...(kc || {})}); const seq = ctx.getSequence();
    let mism = 0, tokens = 0, maxd = 0, sum = 0, cnt = 0; const list = [];
    for (const g of ref.greedy) {
        await seq.clearHistory(); const out = []; let i = 0;
        for await (const r of seq.evaluateWithMetadata(g.ids, {probabilities: true}, {temperature: 0, yieldEogToken: true})) {
            out.push(r.token);
            if (out.every((t, j) => t === g.out[j])) for (const [t, p] of Object.entries(g.top[i] || {})) {
                const q = r.probabilities.get(Number(t)); if (q === undefined) continue;
                const d = Math.abs(q - p); maxd = Math.max(maxd, d); sum += d; cnt++;
            }
            i++; if (out.length >= g.out.length) break;
        }
        tokens += g.out.length; const k = g.out.findIndex((t, j) => out[j] !== t);
        if (k >= 0) { mism++; list.push({prompt: g.prompt, at: k, margin: g.margin[k], ref: g.text, got: model.detokenize(out, true)}); }
    }
    await ctx.dispose();
    console.log(label, 'prompts', ref.greedy.length, 'tokens', tokens, 'sequences that differ', mism, 'probability difference max', maxd.toFixed(5), 'mean', (sum / cnt).toFixed(6));
    for (const l of list) console.log('   differs', JSON.stringify(l));
    return {prompts: ref.greedy.length, tokens, differ: mism, maxProbDiff: maxd, meanProbDiff: sum / cnt, list};
}
report.greedyF16 = await greedyCheck(f16, 'greedy F16:');
await f16.dispose();
const q8 = await llama.loadModel({modelPath: `${dir}/dormouse-mini.gguf`, gpuLayers: 0});
report.greedyQ8 = await greedyCheck(q8, 'greedy Q8_0:');
// 3. chat answers on held-out prompts
const ctx = await q8.createContext({contextSize: 1024, batchSize: 512, threads: TH}); const seq = ctx.getSequence();
let out = '', wrapper;
const chat = async (turns, opt = {}) => {
    await seq.clearHistory();
    const s = new LlamaChatSession({contextSequence: seq, systemPrompt: opt.system, autoDisposeSequence: false}); wrapper = s.chatWrapper.wrapperName; const r = [];
    for (const t of turns) r.push([t, await s.prompt(t, {temperature: opt.temperature ?? 0, maxTokens: 300})]);
    s.dispose(); return r;
};
const t0 = performance.now(); let chars = 0;
for (const p of held.prompts) { const [[, a]] = await chat([p]); chars += a.length; out += `Q: ${p}\nA: ${a}\n\n`; }
out += '---- second set (its failures in an earlier model also led to new question forms) ----\n\n';
for (const p of held.fresh || []) { const [[, a]] = await chat([p]); out += `Q: ${p}\nA: ${a}\n\n`; }
out += '---- blind set: written after the last change to the corpus ----\n\n';
for (const p of held.blind || []) { const [[, a]] = await chat([p]); out += `Q: ${p}\nA: ${a}\n\n`; }
out += '---- chats with several turns ----\n\n';
for (const c of held.chats) { for (const [q, a] of await chat(c)) out += `Q: ${q}\nA: ${a}\n`; out += '\n'; }
out += '---- temperature 0.7, with a system message ----\n\n';
for (const p of held.prompts.filter((_, i) => i % 5 === 0)) { const [[, a]] = await chat([p], {system: 'You are a helpful assistant.', temperature: 0.7}); out += `Q: ${p}\nA: ${a}\n\n`; }
fs.writeFileSync(samplesPath, `Dormouse Mini (Q8_0), node-llama-cpp LlamaChatSession, chat wrapper ${wrapper}, temperature 0\n\nPrompts that also occur word for word in the training corpora (stage 2 got new question forms after mistakes on the first two sets): ${ref.seen.join(' | ')}\n\n---- first set ----\n\n` + out); console.log('chat wrapper', wrapper, 'seconds for the chats', ((performance.now() - t0) / 1000).toFixed(1));
// 4. speed and draft model
const draftPath = `${dir}/dormouse-draft.gguf`;
{
    const ids = q8.tokenize('<|im_start|>user\nTell me a story about a fox<|im_end|>\n<|im_start|>assistant\n', true);
    const time = async s => { const o = []; const t = performance.now(); for await (const k of s.evaluate(ids, {temperature: 0})) { o.push(k); if (o.length >= 150) break; } return [o, o.length / (performance.now() - t) * 1000]; };
    await seq.clearHistory(); await time(seq); await seq.clearHistory(); const [plain, v0] = await time(seq);
    console.log('decode tokens/s without draft', v0.toFixed(0)); report.decode = v0;
    if (fs.existsSync(draftPath)) {
        const dm = await llama.loadModel({modelPath: draftPath, gpuLayers: 0}); let same = 0, all = 0;
        for (const {text, ids} of ref.lines.slice(0, 50)) { all++; if (JSON.stringify([...dm.tokenize(text, true)]) === JSON.stringify(ids)) same++; }
        const dctx = await dm.createContext({contextSize: 1024, threads: TH}); const mctx = await q8.createContext({contextSize: 1024, threads: TH});
        const ms = mctx.getSequence({tokenPredictor: new DraftSequenceTokenPredictor(dctx.getSequence(), {minTokens: 2, maxTokens: 8, minConfidence: 0.5})});
        const cs = new LlamaChatSession({contextSequence: ms}); const plain1 = (await chat(['Tell me a story about a fox']))[0][1]; const t = performance.now();
        const spec = await cs.prompt('Tell me a story about a fox', {temperature: 0, maxTokens: 300}); const v1 = q8.tokenize(spec).length / (performance.now() - t) * 1000;
        for (const p of ['What is an expert?', 'Name the days of the week']) await cs.prompt(p, {temperature: 0, maxTokens: 100});
        report.draft = {tokenizerSame: `${same}/${all}`, stats: ms.tokenPredictions, tokensPerSecond: Math.round(v1), sameAnswerAsWithoutDraft: spec === plain1};
        console.log('draft', JSON.stringify(report.draft));
    }
}
report.wrapper = wrapper; fs.writeFileSync(`${samplesPath}.report.json`, JSON.stringify(report, null, 1));
await llama.dispose();
