// Compares every generated file with the output of its generator, or writes it (npm run generate).
// With --pictures, the pictures of the documentation are renewed too, where a browser is installed.
import { join } from 'node:path';
import { single, summaryLine, sumOutcomes } from './check/outcome.ts';
import { programWords } from './check/read-words.ts';
import { root, runTool } from './check/run-tool.ts';
import { loadGenerators } from './generated/load-generators.ts';
import { compareFiles, writeFiles } from './generated/write-files.ts';

const { switches } = programWords({
  usage: 'npm run verify, or: npm run generate [-- --pictures]',
  switches: ['write', 'pictures'],
});
const write = switches.has('write');
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
// Pictures show times and decisions of their run, so that they are not compared.
const picture = ['run', 'e2e/console/overview.test.ts', '-t', 'picture of the documentation'];
if (write && switches.has('pictures')) {
  process.env['PORTCULLIS_PICTURES'] = join(root, 'docs');
  if ((await runTool('vitest', picture)) !== 0) process.exit(1);
}
process.exitCode = total.failed === 0 ? 0 : 1;
