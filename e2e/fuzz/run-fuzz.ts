import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { digestOf } from '#contracts/canonical';
import { createRandom, type Random } from '../streaming/random.ts';
import { hasProcessTable, memoryOf } from '../support/process-table.ts';
import type { RunningProcess } from '../support/start-process.ts';
import { startRuntime } from '../support/start-runtime.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { type Conversation, openConversation } from './converse.ts';
import { fuzzBundle, token } from './fuzz-bundle.ts';
import { makeRequest } from './make-request.ts';
import { foretell } from './reference-runtime.ts';
import { emptyTally, judgedOf, judgeReply, type Sent, type Tally } from './tally.ts';

export type FuzzRun = {
  /** Mutated requests that are judged before memory is looked at, and after that. */
  readonly warmUp: number;
  readonly requests: number;
  readonly seed: number;
  readonly say: (progress: string) => void;
};

export type FuzzReport = {
  readonly tally: Tally;
  readonly connections: number;
  /** The process ended, is not ready any more, or logged that a handler failed. */
  readonly crashed: boolean;
  /** Resident memory in bytes after the warm-up and at the end; undefined where the system does not tell. */
  readonly memory: { readonly before: number; readonly after: number } | undefined;
};

const workers = 12;
/** Requests in one write; all workers together stay under maxConcurrency of the bundle. */
const longestBatch = 8;
/** Looks at memory between warm-up and end; the level is the median of the first tenth, then of the last. */
const looks = 100;

/** Sends changed requests to one runtime process and judges every answer. */
export async function runFuzz({ warmUp, requests, seed, say }: FuzzRun): Promise<FuzzReport> {
  using folder = temporaryFolder();
  const bundle = fuzzBundle();
  const digest = digestOf(bundle);
  writeFileSync(join(folder.path, 'bundle.json'), JSON.stringify(bundle));
  writeFileSync(join(folder.path, 'token'), `${token}\n`);
  await using runtime = await startRuntime(join(folder.path, 'bundle.json'), join(folder.path, 'token'));
  const port = Number(new URL(runtime.url).port);
  const tally = emptyTally();
  const memory: number[] = [];
  const end = warmUp + requests;
  let connections = 0;
  let said = 0;

  function look(): void {
    const done = judgedOf(tally);
    if (hasProcessTable && done >= warmUp + (memory.length * requests) / looks)
      memory.push(memoryOf(runtime.pid).resident);
    if (done - said < 100_000) return;
    said = done;
    say(`${done} requests on ${connections} connections, ${tally.examples.length} findings`);
  }

  async function work(worker: number): Promise<void> {
    const random = createRandom(seed * 1_000_003 + worker);
    const next = batches(random, digest);
    while (judgedOf(tally) < end && isAlive(runtime)) {
      using conversation = await openConversation(port);
      connections += 1;
      while (judgedOf(tally) < end && (await exchange(conversation, next(), tally, random))) look();
      look();
    }
  }

  await Promise.all(Array.from({ length: workers }, (_, worker) => work(worker)));
  const ready = isAlive(runtime) && (await fetch(`${runtime.url}/readyz`)).status === 200;
  const tenth = looks / 10;
  return {
    tally,
    connections,
    crashed: !ready || runtime.log().includes('request_failed'),
    memory: hasProcessTable
      ? { before: median(memory.slice(0, tenth)), after: median(memory.slice(-tenth)) }
      : undefined,
  };
}

function isAlive({ child }: RunningProcess): boolean {
  return child.exitCode === null && child.signalCode === null;
}

/** Whether the connection can be used again. */
async function exchange(
  conversation: Conversation,
  batch: readonly Sent[],
  tally: Tally,
  random: Random,
): Promise<boolean> {
  const expected = batch.flatMap(({ foretold }) => foretold.expected);
  const open = batch.every(({ foretold }) => foretold.end === 'open');
  const waits = expected.some(({ told }) => told.includes('closed'));
  const half = waits || random.chance(open ? 2 : 30);
  const bytes = Buffer.concat(batch.map((one) => one.bytes));
  const heads = expected.map(({ head }) => head);
  const reply = await conversation.say(cut(bytes, random), heads, half);
  judgeReply(tally, batch, reply);
  return open && !reply.ended && !reply.stuck && random.chance(97);
}

/** One write mostly, else two or three, cut anywhere. */
function cut(bytes: Buffer, random: Random): readonly Buffer[] {
  if (random.chance(90) || bytes.length === 0) return [bytes];
  const [first = 0, second = 0] = [random.below(bytes.length), random.below(bytes.length)].sort((a, b) => a - b);
  return [bytes.subarray(0, first), bytes.subarray(first, second), bytes.subarray(second)].filter(
    (one) => one.length > 0,
  );
}

/** Requests to be sent together: whole ones behind each other, one that ends the connection alone or last. */
function batches(random: Random, digest: string): () => readonly Sent[] {
  let kept: Sent | undefined;
  function make(): Sent {
    const made = makeRequest(random, digest);
    return { ...made, foretold: foretell(made.bytes, digest) };
  }
  return () => {
    if (kept !== undefined) {
      const alone = [kept];
      kept = undefined;
      return alone;
    }
    const batch: Sent[] = [];
    for (let length = random.between(1, longestBatch); batch.length < length; ) {
      const sent = make();
      if (sent.foretold.end === 'open') {
        batch.push(sent);
        continue;
      }
      if (batch.length === 0 || random.chance(25)) return [...batch, sent];
      kept = sent;
      return batch;
    }
    return batch;
  };
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[values.length >> 1] ?? Number.NaN;
}
