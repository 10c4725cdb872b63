import { listFiles } from '../../hack/boundaries/list-files.ts';
import { runSuite } from '../../hack/check/run-suite.ts';
import { root } from '../../hack/check/run-tool.ts';
import type { Figure } from '../support/figure.ts';

export const figure: Figure = {
  name: 'matrix',
  title:
    'faults of runtimes and providers, each with a healthy control: no unguarded text reaches the provider or the client',
  coveredBy: 'e2e/scenarios/fail-closed',
  run: async () => {
    const files = listFiles(root, 'e2e/scenarios/fail-closed').filter((path) => path.endsWith('.test.ts'));
    const { passed, failed, skipped } = await runSuite({ root, files, oneByOne: true });
    return {
      holds: failed === 0 && skipped.length === 0 && passed > 100,
      line: `${passed + failed} faults, each with its healthy control: ${passed} failed closed with their typed error, ${failed} did not`,
    };
  },
};
