// Usage: npm run e2e [-- SUITE...]: whole installations on a real cluster; the last line counts what passed.
import '../hack/check/plain-output.ts';

import { skipLines, summaryLine } from '../hack/check/outcome.ts';
import { runSuite } from '../hack/check/run-suite.ts';
import { root } from '../hack/check/run-tool.ts';

const suites: Readonly<Record<string, string>> = {
  chart: 'e2e/chart/installation.ts',
  foreign: 'e2e/chart/foreign/installation.ts',
};

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => suites[name] === undefined);
if (unknown.length > 0) {
  console.error(`There is no suite ${unknown.join(', ')}: choose from ${Object.keys(suites).join(', ')}.`);
  process.exitCode = 2;
} else {
  const files = Object.entries(suites).flatMap(([name, file]) =>
    wanted.length === 0 || wanted.includes(name) ? [file] : [],
  );
  const outcome = await runSuite({ root, files, parallel: false });
  for (const line of skipLines(outcome.skipped)) console.log(line);
  console.log(summaryLine(outcome));
  process.exitCode = outcome.failed === 0 ? 0 : 1;
}
