// Compares every generated file with the output of its generator, or writes it (npm run generate). If a browser is
// installed, the pictures of the documentation are made again when their sources have changed; with --pictures they are
// always made again.
import { copyFileSync, existsSync, mkdtempDisposableSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { single, summaryLine, sumOutcomes } from './check/outcome.ts';
import { programWords } from './check/read-words.ts';
import { root, runTool } from './check/run-tool.ts';
import { loadGenerators } from './generated/load-generators.ts';
import { pictureSources } from './generated/picture-sources.ts';
import { compareFiles, writeFiles } from './generated/write-files.ts';

const { switches } = programWords({
  usage: 'npm run verify, or: npm run generate [-- --pictures]',
  switches: ['write', 'pictures'],
});
const write = switches.has('write');
const sourcesFile = join(root, 'docs/console-overview.sources');
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
if (write && (switches.has('pictures') || !arePicturesNew())) await renewPictures();
process.exitCode = total.failed === 0 ? 0 : 1;

/**
 * Pictures show times and decisions of the run that made them, so that their sources are compared instead of the
 * pictures.
 */
function arePicturesNew(): boolean {
  return existsSync(sourcesFile) && readFileSync(sourcesFile, 'utf8').trim() === pictureSources(root);
}

/** Without a browser the test that makes the pictures is skipped, and the pictures stay unchanged. */
async function renewPictures(): Promise<void> {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'portcullis-pictures-'));
  process.env['PORTCULLIS_PICTURES'] = folder.path;
  const picture = ['run', 'e2e/console/overview.test.ts', '-t', 'the picture in the documentation'];
  if ((await runTool('vitest', picture)) !== 0) throw new Error('the test of the pictures failed');
  const names = readdirSync(folder.path);
  if (names.length === 0)
    return console.log('The pictures of the documentation were not renewed: a browser or PostgreSQL is not installed.');
  for (const name of names) copyFileSync(join(folder.path, name), join(root, 'docs', name));
  writeFileSync(sourcesFile, `${pictureSources(root)}\n`);
}
