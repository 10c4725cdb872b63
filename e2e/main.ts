// Runs the suites on a real cluster; the last line counts passed tests.
import '../hack/check/plain-output.ts';

import { skipLines, summaryLine } from '../hack/check/outcome.ts';
import { programWords } from '../hack/check/read-words.ts';
import { runSuite } from '../hack/check/run-suite.ts';
import { root } from '../hack/check/run-tool.ts';

const suites: Readonly<Record<string, string>> = {
  chart: 'e2e/chart/installation.ts',
  foreign: 'e2e/chart/foreign-installation.ts',
  services: 'e2e/services-cluster/installation.ts',
};

const { names } = programWords({ usage: 'npm run e2e -- [SUITE...]', names: Object.keys(suites) });
const files = Object.entries(suites).flatMap(([name, file]) =>
  names.length === 0 || names.includes(name) ? [file] : [],
);
const outcome = await runSuite({ root, files, oneByOne: true });
for (const line of skipLines(outcome.skipped)) console.log(line);
console.log(summaryLine(outcome));
process.exitCode = outcome.failed === 0 ? 0 : 1;
