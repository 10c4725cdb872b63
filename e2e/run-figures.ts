// Measures the figures and prints one line for each.
import '../hack/check/plain-output.ts';

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type StepOutcome, single, summaryLine, sumOutcomes } from '../hack/check/outcome.ts';
import { programWords } from '../hack/check/read-words.ts';
import { root } from '../hack/check/run-tool.ts';
import type { Figure, FigureSize } from './support/figure.ts';

async function loadFigures(): Promise<readonly Figure[]> {
  const folder = join(root, 'e2e/figures');
  const names = readdirSync(folder).filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'));
  const modules = await Promise.all(names.sort().map((name) => import(pathToFileURL(join(folder, name)).href)));
  return modules.map((module: { readonly figure: Figure }) => module.figure);
}

async function measure(figure: Figure, size: FigureSize): Promise<StepOutcome> {
  console.log(`${figure.name}: ${figure.title} ...`);
  const start = performance.now();
  try {
    const result = await figure.run(size, (progress) => console.log(`  ${progress}`));
    const seconds = ((performance.now() - start) / 1_000).toFixed(1);
    if ('skipped' in result) {
      console.log(`not available ${figure.name}: ${result.skipped}`);
      return { ...sumOutcomes([]), skipped: [{ test: figure.name, reason: result.skipped }] };
    }
    console.log(`${result.holds ? 'holds' : 'FAILS'} ${figure.name}: ${result.line} (${seconds} s)`);
    return single(result.holds);
  } catch (error) {
    console.log(`FAILS ${figure.name}: ${error instanceof Error ? error.stack : String(error)}`);
    return single(false);
  }
}

const figures = await loadFigures();
const { names, switches } = programWords({
  usage: 'npm run figures -- [[--except] NAME...] [--small] [--list]',
  names: figures.map(({ name }) => name),
  switches: ['small', 'list', 'except'],
});
const isExcept = switches.has('except');
const isNamed = names.length > 0 && !isExcept;
if (switches.has('list')) {
  for (const figure of figures) console.log(`${figure.name}: ${figure.title}`);
} else {
  const size: FigureSize = switches.has('small') ? 'small' : 'full';
  const outcomes: StepOutcome[] = [];
  for (const figure of figures) {
    if (names.length > 0 && names.includes(figure.name) === isExcept) continue;
    if (!isNamed && size === 'small' && figure.coveredBy !== undefined) {
      console.log(`left out ${figure.name}: ${figure.coveredBy} measures it at a small size in the full check`);
    } else outcomes.push(await measure(figure, size));
  }
  const total = sumOutcomes(outcomes);
  console.log(summaryLine(total));
  process.exitCode = total.failed === 0 ? 0 : 1;
}
