import { openStrictBench } from '../strict/run-strict.ts';
import type { Figure } from '../support/figure.ts';

export const figure: Figure = {
  name: 'strict',
  title: 'malformed bodies, headers and HTTP-level faults, each with its exact status and code',
  run: async (_size, say) => {
    await using bench = await openStrictBench();
    let wrong = 0;
    for (const one of bench.cases) {
      const fault = await bench.run(one);
      if (fault === undefined) continue;
      wrong += 1;
      say(`/${one.stage} ${one.name}: ${fault}`);
    }
    const controls = await Promise.all((['request', 'response'] as const).map(bench.control));
    const healthy = controls.every((answer) => answer.status === 200);
    return {
      holds: wrong === 0 && healthy && bench.cases.length >= 300,
      line: `${bench.cases.length} malformed requests: ${bench.cases.length - wrong} with their exact status and code, ${wrong} not`,
    };
  },
};
