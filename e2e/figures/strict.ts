import { runSuite } from '../../hack/check/run-suite.ts';
import { root } from '../../hack/check/run-tool.ts';
import type { Figure } from '../support/figure.ts';

const file = 'runtime/http/strict-input.test.ts';

export const figure: Figure = {
  name: 'strict',
  title: 'malformed bodies, headers and HTTP-level faults, each with its exact status and code',
  coveredBy: 'runtime/http/strict-input.test.ts',
  run: async () => {
    const titles: string[] = [];
    const { passed, failed, skipped } = await runSuite({
      root,
      files: [file],
      oneByOne: true,
      onTest: (title) => titles.push(title),
    });
    const inputs = Number(/the corpus of (\d+) malformed inputs/.exec(titles[0] ?? '')?.[1]);
    return {
      holds: failed === 0 && skipped.length === 0 && passed > 0 && inputs >= 300,
      line: `${inputs} malformed inputs, ${failed === 0 ? 'each' : 'not each'} with its exact status and code`,
    };
  },
};
