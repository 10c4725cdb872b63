import { Agent } from 'node:http';
import { checkBody } from '#checks/check-target';
import { readResult } from '#checks/read-result';
import { type JsonNode, parseTree } from '#kit/json/parse-tree';
import { readChatAnswer } from '../../dataplane/gateway/chat/read-chat-answer.ts';
import { readChatRequest } from '../../dataplane/gateway/chat/read-chat-request.ts';
import { median } from '../support/median.ts';
import { type GatewayWorld, type Guard, guards, startGatewayWorld } from './gateway-world.ts';
import { cpuMicroseconds } from './load.ts';
import { proseOf } from './texts.ts';
import { timeCase } from './time-cases.ts';
import { type TimedCall, timeCall } from './timed-call.ts';

export type Moment = 'firstByte' | 'firstText' | 'total';

/** The measured kinds of answers and their measured moments; the provider writes a stream without pauses. */
const answers: readonly { readonly name: string; readonly bytes: number; readonly moments: readonly Moment[] }[] = [
  { name: 'whole answer, 1 KiB', bytes: 1_024, moments: ['total'] },
  { name: 'stream of a word', bytes: 12, moments: ['firstByte', 'total'] },
  { name: 'stream, 4 KiB', bytes: 4_096, moments: ['firstText', 'total'] },
];

/** Latencies and CPU of one kind of answer under each guard. */
export type GatewayFigure = {
  readonly name: string;
  readonly moments: readonly Moment[];
  /** Milliseconds, medians. */
  readonly at: Readonly<Record<Guard, Readonly<Record<Moment, number>>>>;
  /** Milliseconds that each guard adds to the previous guard: medians of the differences within a round. */
  readonly added: Readonly<Record<Exclude<Guard, 'none'>, Readonly<Record<Moment, number>>>>;
  /** Milliseconds that the full guard adds to a request without a guard. */
  readonly whole: Readonly<Record<Moment, number>>;
  /** CPU microseconds of one call. */
  readonly cpu: Readonly<Record<Guard, { readonly gateway: number; readonly judge: number }>>;
};

export type GatewayFigures = {
  readonly figures: readonly GatewayFigure[];
  /**
   * Microseconds for parsing the request, the answer and both results and for writing both checks, without any call.
   */
  readonly reading: number;
};

const warmUpTurns = 500;
/** Consecutive calls of one model during which CPU is counted. */
const cpuBlock = 40;
const cpuBlocks = 7;

/** Times the same call under each guard, alternately and on one connection, and counts the CPU of each process. */
export async function measureGateway(turns: number): Promise<GatewayFigures> {
  await using world = await startGatewayWorld();
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const figures: GatewayFigure[] = [];
  for (const { name, bytes, moments } of answers) {
    const content = proseOf('latin', bytes);
    const stream = name.startsWith('stream');
    const call = (model: Guard): Promise<TimedCall> =>
      timeCall({ agent, url: world.url, key: world.key, model, stream, content });
    const times = await timeTurns(call, turns);
    figures.push({ name, moments, ...compare(times), cpu: await countCpu(world, call) });
  }
  agent.destroy();
  return { figures, reading: await timeReading() };
}

type Call = (model: Guard) => Promise<TimedCall>;
type Times = Readonly<Record<Guard, readonly TimedCall[]>>;

async function timeTurns(call: Call, turns: number): Promise<Times> {
  const times = { none: [], idle: [], 'one pattern': [], usual: [] } satisfies Record<Guard, TimedCall[]>;
  for (let turn = -warmUpTurns; turn < turns; turn++) {
    // The guards run in alternating order, so that no guard always follows the same other guard.
    for (const guard of turn % 2 === 0 ? guards : guards.toReversed()) {
      const timed = await call(guard);
      if (turn >= 0) (times[guard] as TimedCall[]).push(timed);
    }
  }
  return times;
}

function compare(times: Times): Pick<GatewayFigure, 'at' | 'added' | 'whole'> {
  const at = (guard: Guard) => byMoment((moment) => median(times[guard].map((call) => call[moment])));
  const between = (more: Guard, less: Guard) =>
    byMoment((moment) =>
      median(times[more].map((call, turn) => call[moment] - (times[less][turn]?.[moment] ?? Number.NaN))),
    );
  return {
    at: { none: at('none'), idle: at('idle'), 'one pattern': at('one pattern'), usual: at('usual') },
    added: {
      idle: between('idle', 'none'),
      'one pattern': between('one pattern', 'idle'),
      usual: between('usual', 'one pattern'),
    },
    whole: between('usual', 'none'),
  };
}

function byMoment(measure: (moment: Moment) => number): Record<Moment, number> {
  return { firstByte: measure('firstByte'), firstText: measure('firstText'), total: measure('total') };
}

async function countCpu({ gateway, judge }: GatewayWorld, call: Call): Promise<GatewayFigure['cpu']> {
  const used: Record<Guard, { gateway: number[]; judge: number[] }> = {
    none: { gateway: [], judge: [] },
    idle: { gateway: [], judge: [] },
    'one pattern': { gateway: [], judge: [] },
    usual: { gateway: [], judge: [] },
  };
  for (let block = 0; block < cpuBlocks; block++) {
    for (const guard of guards) {
      const pid = judge[guard]?.pid;
      const read = () => [cpuMicroseconds(gateway.pid), pid === undefined ? 0 : cpuMicroseconds(pid)] as const;
      const before = read();
      for (let turn = 0; turn < cpuBlock; turn++) await call(guard);
      const after = read();
      used[guard].gateway.push((after[0] - before[0]) / cpuBlock);
      used[guard].judge.push((after[1] - before[1]) / cpuBlock);
    }
  }
  const of = (guard: Guard) => ({ gateway: median(used[guard].gateway), judge: median(used[guard].judge) });
  return { none: of('none'), idle: of('idle'), 'one pattern': of('one pattern'), usual: of('usual') };
}

/**
 * The part of the guard in the gateway that is not a call: the parsing and writing that a guarded request needs in
 * addition to an unguarded one.
 */
async function timeReading(): Promise<number> {
  const content = proseOf('latin', 1_024);
  const root: JsonNode = parseTree(Buffer.from(JSON.stringify({ model: 'm', messages: [{ role: 'user', content }] })));
  const rules = { textOnly: false, streaming: 'served' as const, extraKeys: new Set<string>() };
  const result = Buffer.from(JSON.stringify({ action: { reason: 'policy_pass' } }));
  const message = { role: 'assistant', content, refusal: null };
  const answer = Buffer.from(JSON.stringify({ id: 'a', choices: [{ index: 0, message, finish_reason: 'stop' }] }));
  const timed = await timeCase(
    {
      group: 'gateway',
      name: 'reading',
      body: answer,
      expects: 'pass pass',
      work(bytes) {
        const request = readChatRequest(root, rules);
        const units = request.ok ? request.value.units : [];
        checkBody('request', units);
        const texts = [{ role: 'assistant', content: readChatAnswer(bytes)?.content ?? '' }];
        checkBody('response', texts);
        const first = readResult(result, 'request', 'buffered', units);
        return `${first.kind} ${readResult(result, 'response', 'buffered', texts).kind}`;
      },
    },
    31,
  );
  return timed.microseconds;
}
