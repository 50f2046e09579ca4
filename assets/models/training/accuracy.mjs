// exact facts: node accuracy.mjs model.gguf   (sums, differences, products, capitals, days, months, animals)
import {pathToFileURL} from 'node:url';
import fs from 'node:fs';
const NLC = process.env.NLC ? pathToFileURL(process.env.NLC).href : 'node-llama-cpp';
const {getLlama, LlamaLogLevel} = await import(NLC);
const llama = await getLlama({gpu: false, logLevel: LlamaLogLevel.error}); llama.maxThreads = 2;
const m = await llama.loadModel({modelPath: process.argv[2], gpuLayers: 0}); const ctx = await m.createContext({contextSize: 256, threads: 2}); const seq = ctx.getSequence();
const src = fs.readFileSync(new URL('./corpus.py', import.meta.url), 'utf8');
const caps = [...src.match(/CAPITALS = \{(.*)\}/)[1].matchAll(/'([^']+)':'([^']+)'/g)].map(x => [x[1], x[2]]);
const days = 'Monday Tuesday Wednesday Thursday Friday Saturday Sunday'.split(' '), months = 'January February March April May June July August September October November December'.split(' ');
const sets = {sums: [], differences: [], products: [], capitals: [], days: [], months: []};
for (let a = 0; a <= 20; a++) for (let b = 0; a + b <= 20; b++) sets.sums.push([`What is ${a} + ${b}?`, new RegExp(`(= |is )${a + b}\\.`)]);
for (let a = 0; a <= 20; a++) for (let b = 0; b <= a; b++) sets.differences.push([`What is ${a} minus ${b}?`, new RegExp(`(= |is )${a - b}\\.`)]);
for (let a = 1; a <= 10; a++) for (let b = 1; b <= 10; b++) sets.products.push([`${a} times ${b}`, new RegExp(`(= |is )${a * b}\\.`)]);
for (const [c, k] of caps) sets.capitals.push([`What is the capital of ${c}?`, new RegExp(k)]);
for (let i = 0; i < 7; i++) sets.days.push([`What day comes after ${days[i]}?`, new RegExp(days[(i + 1) % 7])]);
for (let i = 0; i < 12; i++) sets.months.push([`Which month is after ${months[i]}?`, new RegExp(months[(i + 1) % 12])]);
const r = {};
for (const [k, qs] of Object.entries(sets)) {
    let ok = 0; const bad = [];
    for (const [q, re] of qs) {
        await seq.clearHistory(); const o = [];
        for await (const t of seq.evaluate(m.tokenize(`<|im_start|>user\n${q}<|im_end|>\n<|im_start|>assistant\n`, true), {temperature: 0})) { o.push(t); if (o.length >= 28) break; }
        const s = m.detokenize(o); if (re.test(s)) ok++; else bad.push(q + ' -> ' + s.split('\n')[0]);
    }
    r[k] = `${ok}/${qs.length}`; if (process.env.BAD) console.log(k, bad.slice(0, 6));
}
console.log(process.argv[2], JSON.stringify(r)); await llama.dispose();
