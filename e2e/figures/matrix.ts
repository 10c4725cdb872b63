import { listSuites } from '../../hack/check/list-suites.ts';
import { runSuite } from '../../hack/check/run-suite.ts';
import { root } from '../../hack/check/run-tool.ts';
import type { Figure } from '../support/figure.ts';

export const figure: Figure = {
  name: 'matrix',
  title: 'faults of runtimes and providers, each beside its healthy control: nothing unguarded to either side',
  run: async () => {
    const suites = [...listSuites(root).values()].flat();
    const files = suites.filter((path) => path.startsWith('e2e/scenarios/fail-closed/'));
    const { passed, failed, skipped } = await runSuite({ root, files, parallel: false });
    return {
      holds: failed === 0 && skipped.length === 0 && passed > 100,
      line: `${passed + failed} faults, each with its healthy control: ${passed} closed with their typed error, ${failed} not`,
    };
  },
};
