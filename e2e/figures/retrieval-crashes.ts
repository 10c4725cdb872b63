import { missingPostgres } from '#sql/testing/test-server';
import { minioProgram } from '../retrieval/minio-server.ts';
import { natsProgram } from '../retrieval/nats-server.ts';
import { missingOpenSearch } from '../retrieval/opensearch-server.ts';
import type { StoreChoice } from '../retrieval-crashes/crash-stores.ts';
import { openCrashWorld } from '../retrieval-crashes/crash-world.ts';
import { churnDocuments, crashSteps, killAtSteps, replayFailed } from '../retrieval-crashes/run-crashes.ts';
import type { Figure } from '../support/figure.ts';

/** The number of faults for one combination of stores. */
const sizes = {
  small: { submits: 150, documents: 40, kills: 6, stops: 2, pauseMs: 300 },
  full: { submits: 5_000, documents: 400, kills: 200, stops: 100, pauseMs: 1_600 },
} as const;
type SizeName = keyof typeof sizes;

const missingServers = natsProgram.missing ?? minioProgram.missing;
/** The servers are left out, or OpenSearch only, where this machine does not have them. */
const choices: readonly StoreChoice[] = [
  { stores: 'own', search: 'embedded' },
  ...(missingServers === undefined
    ? [{ stores: 'servers', search: missingOpenSearch === undefined ? 'opensearch' : 'embedded' } as const]
    : []),
];

/** Every combination is killed at all steps; in the small size each step is killed in one combination only. */
function stepsOf(size: SizeName, choice: number) {
  return size === 'full' ? crashSteps : crashSteps.filter((_, at) => at % choices.length === choice);
}

export const figure: Figure = {
  name: 'retrieval-crashes',
  title:
    'kills at every step, stops past the lease, lost commits, with PostgreSQL, a folder and the embedded index and with ' +
    'NATS, S3 and OpenSearch: no document is lost, repeated or older than its newest submit, and the index has each chunk once',
  run: async (size, say) => {
    if (missingPostgres !== undefined) return { skipped: missingPostgres };
    const results: { readonly holds: boolean; readonly line: string }[] = [];
    for (const [at, choice] of choices.entries()) results.push(await crash(choice, at, size, say));
    const missing = missingServers ?? missingOpenSearch;
    return {
      holds: results.every(({ holds }) => holds),
      line: [
        ...results.map(({ line }) => line),
        ...(missing === undefined ? [] : [`a combination was left out: ${missing}`]),
      ].join('; '),
    };
  },
};

async function crash(choice: StoreChoice, at: number, size: SizeName, say: (progress: string) => void) {
  const name = `${choice.stores === 'own' ? 'PostgreSQL and a folder' : 'NATS and S3'}, ${choice.search}`;
  await using world = await openCrashWorld(choice);
  const submits = { next: 0, accepted: new Map<number, string>() };
  const steps = await killAtSteps(world, submits, stepsOf(size, at), (progress) => say(`${name}: ${progress}`));
  const random = await churnDocuments(world, submits, sizes[size], (progress) => say(`${name}: ${progress}`));
  const replayed = await replayFailed(world, submits);
  const faults = [...steps.faults, ...random.faults, ...replayed.faults];
  for (const fault of faults.slice(0, 10)) say(`${name}: ${fault}`);
  return {
    holds: faults.length === 0 && submits.accepted.size === submits.next,
    line:
      `${name}: ${submits.next} submits, ${submits.accepted.size} accepted; ${steps.kills} kills at named steps, ` +
      `${random.kills} random kills, ${random.stops} stops past the lease, ${random.lostCommits} lost commits, ` +
      `${random.reindexes} reindexes, ${random.deadLetters} dead letters and ${replayed.replays} FAILED jobs replayed: ` +
      `${faults.length} faults`,
  };
}
