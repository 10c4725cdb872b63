import { missingPostgres } from '#sql/testing/test-server';
import { missingApiServer } from '../kube/open-api-server.ts';
import { putConcurrently, sendIdentical } from '../management/measure-commands.ts';
import { commandThroughCrashes } from '../management/measure-crashes.ts';
import { openBusyCluster } from '../management/open-busy-cluster.ts';
import { createRandom } from '../streaming/random.ts';
import type { Figure } from '../support/figure.ts';

const sizes = {
  full: { identical: 200, puts: 1_000, commands: 500, longStopMs: 24_000 },
  small: { identical: 200, puts: 60, commands: 40, longStopMs: 3_000 },
} as const;
const seed = 6;

export const figure: Figure = {
  name: 'management',
  title:
    'commands of the policy management API through two replicas on a real API server: repeated, concurrent, and during crashes',
  run: async (size, say) => {
    const missing = missingPostgres ?? missingApiServer;
    if (missing !== undefined) return { skipped: missing };
    const { identical: count, puts, commands, longStopMs } = sizes[size];
    const source = createRandom(seed);
    const random = (): number => source.below(1_000_000) / 1_000_000;
    await using world = await openBusyCluster({ replicas: 2 });
    const identical = await sendIdentical(world, count);
    say(`${count} identical commands: ${JSON.stringify(identical)}`);
    const contended = await putConcurrently(world, { puts, workers: 16, random });
    say(`${contended.puts} PUTs: ${JSON.stringify({ ...contended, faults: contended.faults.slice(0, 10) })}`);
    const crashed = await commandThroughCrashes(world, { commands, workers: 8, longStopMs, leastKills: 0, random });
    say(
      `${crashed.commands} commands through crashes: ${JSON.stringify({ ...crashed, operations: undefined, faults: crashed.faults.slice(0, 10) })}`,
    );
    const isOne = identical.answers === 1 && identical.accepted === count && identical.effects === 1;
    const line =
      `${count} identical commands: ${identical.effects} effect, ${identical.answers} answer; ${contended.puts} PUTs and ` +
      `${contended.edits} edits: ${contended.accepted} accepted, ${contended.revisions} revisions, ` +
      `${contended.faults.length} faults; ${crashed.commands} commands through ${crashed.kills} kills and ` +
      `${crashed.stops} stops: ${crashed.accepted} accepted, ${crashed.faults.length} faults`;
    return { holds: isOne && contended.faults.length === 0 && crashed.faults.length === 0, line };
  },
};
