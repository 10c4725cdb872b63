// Compares every generated file with the output of its generator, or writes it (npm run generate).
import { single, summaryLine, sumOutcomes } from './check/outcome.ts';
import { programWords } from './check/read-words.ts';
import { root } from './check/run-tool.ts';
import { loadGenerators } from './generated/load-generators.ts';
import { compareFiles, writeFiles } from './generated/write-files.ts';

const write = programWords({ usage: 'npm run verify, or: npm run generate', switches: ['write'] }).switches.has(
  'write',
);
const outcomes = [];
for (const { name, files } of await loadGenerators(root)) {
  const differences = compareFiles(root, files);
  if (write) writeFiles(root, files, differences);
  for (const { path, kind } of differences) console.log(`${write ? 'written' : kind}: ${path} (${name})`);
  const different = new Set(differences.map((difference) => difference.path));
  for (const path of new Set([...files.keys(), ...different])) outcomes.push(single(write || !different.has(path)));
}
const total = sumOutcomes(outcomes);
if (total.failed > 0) {
  console.log("Generated files differ from their sources: run 'npm run generate' and commit the result.");
}
console.log(summaryLine(total));
process.exitCode = total.failed === 0 ? 0 : 1;
