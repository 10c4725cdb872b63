// Every check that needs nothing but Node.js and npm, step by step.
import './check/plain-output.ts';

import { listSuites, type SuiteName, suiteNames } from './check/list-suites.ts';
import { addUp, type Outcome, single, skipLines, summaryLine } from './check/outcome.ts';
import { programWords } from './check/read-words.ts';
import { runSuite } from './check/run-suite.ts';
import { root, runTool } from './check/run-tool.ts';
import { requirementRows } from './requirements/rows.ts';

type Step = { readonly name: string; readonly hint: string; readonly run: (before: Outcome) => Promise<Outcome> };

const suites = listSuites(root);

const hints: Record<SuiteName, string> = {
  boundaries: 'Move the named import or file to where ARCHITECTURE.md puts it, or prove the named requirement.',
  unit: "Mend the first failure above, then repeat it alone with 'npm test -- unit'.",
  conformance: 'An adapter breaks an obligation of its port: read the comment of that method in ports.ts.',
  constellation: "A whole platform behaved wrongly: its processes' last log lines stand above the failure.",
};

async function runNamedSuite(name: SuiteName): Promise<Outcome> {
  const files = suites.get(name) ?? [];
  if (files.length === 0) {
    console.error(`There is no test file in the suite ${name}: a suite without tests proves nothing.`);
    return single(false);
  }
  const outcome = await runSuite({ root, files, parallel: name !== 'constellation' });
  const silent = outcome.skipped.filter((skip) => skip.reason === '');
  for (const skip of silent) console.error(`Skipped without a reason: ${skip.test}`);
  return { ...outcome, failed: outcome.failed + silent.length };
}

/** Every row has a test that ran and passed; what only exists in a source file, or was skipped, is no proof. */
async function checkProofs(before: Outcome): Promise<Outcome> {
  const proved = new Set(before.proved);
  const open = requirementRows(root).filter((row) => !proved.has(row.id));
  for (const row of open) console.error(`No passed test proves ${row.id}: ${row.rule}`);
  console.log(`${proved.size} requirement rows are proved by tests that passed.`);
  return single(open.length === 0);
}

const steps: readonly Step[] = [
  {
    name: 'types',
    hint: 'Mend the type errors above; the compiler names file and line.',
    run: async () => single((await runTool('tsc', ['--noEmit', '-p', '.', '--pretty', 'false'])) === 0),
  },
  {
    name: 'lint',
    hint: "Run 'npm run format' for what can be mended by itself, and mend the rest by hand.",
    run: async () =>
      single(
        (await runTool('biome', ['ci', '--max-diagnostics=50', ...(process.stdout.isTTY ? [] : ['--colors=off'])])) ===
          0,
      ),
  },
  ...suiteNames.map((name) => ({ name, hint: hints[name], run: async () => runNamedSuite(name) })),
  {
    name: 'requirements',
    hint: 'Write a test with verifies([id], ...) for each row named above; a skipped test proves nothing.',
    run: checkProofs,
  },
];

async function runSteps(chosen: readonly Step[]): Promise<Outcome> {
  const outcomes: Outcome[] = [];
  for (const [index, step] of chosen.entries()) {
    const place = `[${index + 1}/${chosen.length}] ${step.name}`;
    console.log(`\n${place} ...`);
    const start = performance.now();
    const outcome = await step.run(addUp(outcomes));
    const seconds = ((performance.now() - start) / 1_000).toFixed(1);
    console.log(`${place}: ${summaryLine(outcome)} (${seconds} s)`);
    if (outcome.failed > 0) console.log(`${place}: ${step.hint}`);
    outcomes.push(outcome);
  }
  return addUp(outcomes);
}

const { names } = programWords({ usage: 'npm test -- [STEP...]', names: steps.map(({ name }) => name) });
const total = await runSteps(names.length === 0 ? steps : steps.filter((step) => names.includes(step.name)));
console.log('');
for (const line of skipLines(total.skipped)) console.log(line);
console.log(summaryLine(total));
process.exitCode = total.failed === 0 ? 0 : 1;
