// `npm run test:models -- --answers 50000 --runs 10000`: that number of cases of the models of answers and of runs, with each front.
// They are tried in chunks, each from a seed of its own. The result of a chunk is a line in results.jsonl in dist/models (or
// in `--folder`), and what jest says of one that fails is in a file beside it. Started again, it goes on after the last
// line; `--seed` is the seed of the first chunk.
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { root } from "./shared.mjs";

const models = {
  answers: { file: "test/unit/mutated-answers.test.ts", title: "no answer", chunk: 1000 },
  runs: { file: "test/unit/runs.test.ts", title: "random programs", chunk: 250 },
};
const { values } = parseArgs({
  options: {
    answers: { type: "string", default: "0" },
    runs: { type: "string", default: "0" },
    seed: { type: "string", default: "1" },
    folder: { type: "string", default: join(root, "dist", "models") },
  },
});
const folder = resolve(values.folder);
const results = join(folder, "results.jsonl");
mkdirSync(folder, { recursive: true });
const lines = existsSync(results) ? readFileSync(results, "utf8").trim().split("\n").filter(Boolean) : [];
const done = new Map(lines.map(JSON.parse).map((one) => [`${one.model} ${one.seed}`, one]));

for (const [model, { chunk }] of Object.entries(models))
  for (let begin = 0; begin < Number(values[model]); begin += chunk) {
    const seed = Number(values.seed) + begin / chunk;
    if (done.has(`${model} ${seed}`)) continue;
    const result = run(model, Math.min(chunk, Number(values[model]) - begin), seed);
    done.set(`${model} ${seed}`, result);
    appendFileSync(results, `${JSON.stringify(result)}\n`);
    console.log(JSON.stringify(result));
  }
const failed = [...done.values()].filter(({ passed }) => !passed);
for (const { model, seed } of failed) console.log(`Failed: ${join(folder, `${model}-${seed}.txt`)}`);
process.exitCode = failed.length > 0 ? 1 : 0;

function run(model, cases, seed) {
  const { file, title } = models[model];
  const started = Date.now();
  const args = [join(root, "node_modules", "jest", "bin", "jest.js"), file, "-t", title];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: root,
    encoding: "utf8",
    maxBuffer: Infinity,
    env: { ...process.env, PULUMI_UPTIME_CASES: String(cases), PULUMI_UPTIME_SEED: String(seed) },
  });
  const passed = status === 0;
  if (!passed) writeFileSync(join(folder, `${model}-${seed}.txt`), stdout + stderr);
  return { model, seed, cases, passed, seconds: Math.round((Date.now() - started) / 1000) };
}
