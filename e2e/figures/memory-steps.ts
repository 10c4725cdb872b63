import { missingPostgres, startTestServer } from '#sql/testing/test-server';
import { startMemory } from '../../dataplane/memory/testing/start-memory.ts';
import { takeRandomSteps } from '../memory/random-steps.ts';
import type { Figure } from '../support/figure.ts';

/** Groups of persons run their steps concurrently. */
const sizes = { small: { groups: 2, steps: 1250 }, full: { groups: 8, steps: 1_250 } } as const;
const shownDifferences = 5;

export const figure: Figure = {
  name: 'memory-steps',
  title:
    'random steps of several persons through two replicas of the API and a worker, compared with lists in memory: 0 differences',
  run: async (size, say) => {
    if (missingPostgres !== undefined) return { skipped: missingPostgres };
    await using server = await startTestServer();
    const database = await server.createDatabase();
    await using worker = await startMemory(database, { config: { role: 'worker' } });
    await using first = await startMemory(worker.database, { config: { role: 'api' } });
    await using second = await startMemory(worker.database, { config: { role: 'api' } });
    const { groups, steps } = sizes[size];
    const reports = await Promise.all(
      Array.from({ length: groups }, (_, at) => takeRandomSteps([first, second], { seed: at + 1, steps, say })),
    );
    const packed = reports.filter(({ wasPacked }) => wasPacked).length;
    const erased = reports.filter(({ isErasedPacked }) => isErasedPacked).length;
    const differences = reports.flatMap((report) => report.differences);
    for (const difference of differences.slice(0, shownDifferences)) say(difference);
    const kinds = new Set(reports.flatMap(({ counts }) => Object.keys(counts)));
    return {
      // The first person of most groups has more changes than a segment before an erasure.
      holds: differences.length === 0 && erased >= groups / 2 && (size === 'small' || packed >= groups / 2),
      line:
        `${groups * steps} steps of ${kinds.size} kinds by ${groups} groups of persons, ${packed} persons with ` +
        `packed memories, ${erased} persons erased with packed memories: ${differences.length} differences`,
    };
  },
};
