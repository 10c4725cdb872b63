import { describe, expect, test } from 'vitest';
import type { KubeClient } from '#kube/client/client';
import type { GatewayReport } from '#resources/gateway-report';
import { kinds } from '#resources/kinds';
import { checkModel } from './check-model.ts';
import type { Sabotage } from './operator-process.ts';

const say = (): void => undefined;

test('an installation keeps its invariants under random edits, faults, crashes and changes of leadership', async () => {
  const seed = Date.now() % 2 ** 31;
  const { counterexample, ...totals } = await checkModel({ runs: 80, seed, say });
  expect(counterexample, `seed ${seed}`).toBeUndefined();
  expect(totals.requests).toBeGreaterThan(5_000);
});

/** An operator whose patches have no precondition. */
const hasty: Sabotage = (client) => ({
  ...client,
  patch: (kind, name, operations) =>
    client.patch(
      kind,
      name,
      operations.filter(({ op }) => op !== 'test'),
    ),
});

/** An operator that ignores which workloads replicas use. */
const deaf: Sabotage = (client) => ({ ...client, watch: watchWithoutUse(client) });

function watchWithoutUse(client: KubeClient): KubeClient['watch'] {
  return async function* watch(kind, options) {
    for await (const event of client.watch(kind, options)) {
      if (kind !== kinds.gatewayReport || event.type === 'BOOKMARK') yield event as never;
      else {
        const report = event.object as unknown as GatewayReport;
        yield { ...event, object: { ...report, spec: { ...report.spec, inUse: [] } } } as never;
      }
    }
  };
}

describe('planted defects', () => {
  test.each([
    ['writes without a precondition', hasty, 'without a precondition'],
    ['workloads that are removed while requests use them', deaf, 'was removed during a request'],
  ])('the simulation detects a planted defect: %s', async (_title, sabotage, sentence) => {
    const { counterexample } = await checkModel({ runs: 60, seed: 1, say, sabotage });
    expect(counterexample?.broken.join('\n')).toContain(sentence);
  });
});
