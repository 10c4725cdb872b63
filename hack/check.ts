// Runs the checks step by step: the quick ones (npm test), all of them (npm run test:full), or those that a change
// affects.
import './check/plain-output.ts';

import { readTree } from './boundaries/tree.ts';
import { affectedTests, changedFiles } from './check/affected-tests.ts';
import { fullSuites, listSuites, quickSuites, type SuiteName } from './check/list-suites.ts';
import { type StepOutcome, single, skipLines, summaryLine, sumOutcomes } from './check/outcome.ts';
import { readQuickReport, writeQuickReport } from './check/quick-report.ts';
import { programWords } from './check/read-words.ts';
import { runSuite } from './check/run-suite.ts';
import { root, runTool } from './check/run-tool.ts';
import { requirementRows } from './requirements/rows.ts';

type Step = {
  readonly name: string;
  readonly hint: string;
  readonly run: (before: StepOutcome) => Promise<StepOutcome>;
};

const hints: Record<SuiteName, string> = {
  boundaries: 'Move the named import or file to where ARCHITECTURE.md puts it.',
  pure: "Fix the first failure above, then repeat it alone with 'npm test -- pure'.",
  servers: "Fix the first failure above, then repeat it alone with 'npm test -- servers'.",
  unit: "Fix the first failure above, then repeat it alone with 'npm test -- unit'.",
  conformance: 'An adapter breaks an obligation of its port: read the comment of that method in ports.ts.',
  platform: "The last log lines of the platform's processes are above the failure.",
  slow: "Fix the first failure above, then repeat it alone with 'npm run test:full -- slow'.",
  constellation: "The last log lines of the platform's processes are above the failure.",
};

/** Suites whose files share processes. */
const sharedSuites: readonly SuiteName[] = ['pure', 'servers'];
/** Suites whose files mostly wait: for processes that they start, for deadlines and for grace periods. */
const waitingSuites: readonly SuiteName[] = ['servers', 'unit', 'conformance', 'platform', ...fullSuites];

const { names, switches } = programWords({
  usage: 'npm test -- [STEP...] [--changed], or: npm run test:full -- [STEP...] [--changed]',
  names: ['types', 'lint', ...quickSuites, ...fullSuites, 'requirements'],
  switches: ['full', 'changed'],
});
const isFull = switches.has('full');
const isWhole = names.length === 0 && !switches.has('changed');
const tree = readTree(root);
const suites = listSuites(tree);
const affected = switches.has('changed') ? new Set(affectedTests(tree, changedFiles(root))) : undefined;

async function runNamedSuite(name: SuiteName): Promise<StepOutcome> {
  const all = suites.get(name) ?? [];
  if (all.length === 0) {
    console.error(`The suite ${name} has no test file: a suite without tests proves nothing.`);
    return single(false);
  }
  const files = all.filter((path) => affected?.has(path) ?? true);
  if (affected !== undefined) console.log(`${files.length} of ${all.length} test files can be affected.`);
  if (files.length === 0) return sumOutcomes([]);
  const outcome = await runSuite({
    root,
    files,
    shared: sharedSuites.includes(name),
    waiting: waitingSuites.includes(name),
  });
  const silent = outcome.skipped.filter((skip) => skip.reason === '');
  for (const skip of silent) console.error(`Skipped without a reason: ${skip.test}`);
  return { ...outcome, failed: outcome.failed + silent.length };
}

/** Every obligation must have a test that ran and passed; a skipped test proves nothing. */
async function checkProofs(before: StepOutcome): Promise<StepOutcome> {
  const proved = new Set([...before.proved, ...(quick?.proved ?? [])]);
  const rows = requirementRows(root);
  const open = rows.filter((row) => !proved.has(row.id));
  for (const row of open) console.error(`No passed test proves ${row.id}: ${row.rule}`);
  console.log(`${rows.length - open.length} of ${rows.length} obligations are proved by tests that passed.`);
  return single(open.length === 0);
}

const tool = (name: 'types' | 'lint', hint: string, run: () => Promise<number>): Step => ({
  name,
  hint,
  run: async () => single((await run()) === 0),
});
const suiteSteps = (of: readonly SuiteName[]): readonly Step[] =>
  of.map((name) => ({ name, hint: hints[name], run: () => runNamedSuite(name) }));

const quickSteps: readonly Step[] = [
  tool('types', 'Fix the type errors above; the compiler names file and line.', () =>
    runTool('tsc', ['--noEmit', '-p', '.', '--pretty', 'false']),
  ),
  tool('lint', "Run 'npm run format', which fixes a part of it, and fix the rest by hand.", () =>
    runTool('biome', ['ci', '--max-diagnostics=50', ...(process.stdout.isTTY ? [] : ['--colors=off'])]),
  ),
  ...suiteSteps(quickSuites),
];
const requirements: Step = {
  name: 'requirements',
  hint: 'Write a test with verifies([id], ...) for each obligation named above; a skipped test proves nothing.',
  run: checkProofs,
};

/**
 * The report of a quick check of the same files; its steps are then not repeated, and its failures count as one failure
 * of the full check.
 */
const quick = isFull && isWhole ? readQuickReport(root, tree) : undefined;
const quickResult: Step = {
  name: 'result of the quick check',
  hint: "Run 'npm test', which failed for these files.",
  run: async () => single(quick?.failed === 0),
};

function chooseSteps(): readonly Step[] {
  const fullSteps = suiteSteps(fullSuites);
  if (names.length > 0) {
    return [...quickSteps, ...fullSteps, requirements].filter((step) => names.includes(step.name));
  }
  if (!isFull) return quickSteps;
  if (affected !== undefined) return [...quickSteps, ...fullSteps];
  if (quick === undefined) return [...quickSteps, ...fullSteps, requirements];
  console.log(
    `The quick check ran on these files: its ${quick.proved.length} proofs count, its steps are not repeated.`,
  );
  return [quickResult, ...fullSteps, requirements];
}

async function runSteps(chosen: readonly Step[]): Promise<StepOutcome> {
  const outcomes: StepOutcome[] = [];
  for (const [index, step] of chosen.entries()) {
    const place = `[${index + 1}/${chosen.length}] ${step.name}`;
    console.log(`\n${place} ...`);
    const start = performance.now();
    const outcome = await step.run(sumOutcomes(outcomes));
    const seconds = ((performance.now() - start) / 1_000).toFixed(1);
    console.log(`${place}: ${summaryLine(outcome)} (${seconds} s)`);
    if (outcome.failed > 0) console.log(`${place}: ${step.hint}`);
    outcomes.push(outcome);
  }
  return sumOutcomes(outcomes);
}

const start = performance.now();
const total = await runSteps(chooseSteps());
if (isWhole && !isFull) {
  const { length } = requirementRows(root);
  writeQuickReport(root, tree, { proved: total.proved, failed: total.failed });
  console.log(
    `\n${total.proved.length} of ${length} obligations are proved by these tests; test:full checks all of them.`,
  );
}
if (affected !== undefined && !isFull) {
  const left = fullSuites.flatMap((name) => suites.get(name) ?? []).filter((path) => affected.has(path));
  console.log(`\nLeft out: ${left.length} affected test files of the full check (npm run test:full -- --changed).`);
}
console.log(`\n${((performance.now() - start) / 1_000).toFixed(0)} s`);
for (const line of skipLines(total.skipped)) console.log(line);
console.log(summaryLine(total));
process.exitCode = total.failed === 0 ? 0 : 1;
