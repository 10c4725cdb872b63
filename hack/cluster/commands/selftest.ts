import type { Command } from 'commander';
import { skipLines, summaryLine } from '../../check/outcome.ts';
import { runSuite } from '../../check/run-suite.ts';
import { root } from '../../check/run-tool.ts';

const suites = ['control-plane', 'image', 'whole-cluster'] as const;

export function addSelftest(program: Command): void {
  program
    .command('selftest [suite...]')
    .description(`start real clusters and test them; suites: ${suites.join(', ')} (default: all)`)
    .action(selftest);
}

async function selftest(chosen: readonly string[]): Promise<void> {
  const unknown = chosen.filter((name) => !suites.some((suite) => suite === name));
  if (unknown.length > 0) throw new Error(`there is no suite ${unknown.join(', ')}: choose from ${suites.join(', ')}`);
  const files = suites
    .filter((suite) => chosen.length === 0 || chosen.includes(suite))
    .map((suite) => `hack/cluster/selftest/${suite}.ts`);
  const outcome = await runSuite({ root, files, oneByOne: true });
  for (const line of skipLines(outcome.skipped)) console.log(line);
  console.log(summaryLine(outcome));
  process.exitCode = outcome.failed === 0 ? 0 : 1;
}
