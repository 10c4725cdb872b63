import { until } from '#kit/testing/until';
import { type ChatResult, chatCall } from '../../support/chat-call.ts';
import { startLoad } from '../../support/load.ts';
import type { ScriptedUpstream, UpstreamScript } from '../../support/scripted-upstream.ts';
import { canary, revisionMark, secret, stampsIn } from './marked-policy.ts';

/** Number of applications that a long stream outlives. */
export const outlived = 5;

/** The result of the load while revisions were applied one after another. */
export type TrafficReport = {
  readonly requests: number;
  /** Streams during which at least `outlived` applications were applied. */
  readonly longStreams: number;
  /** Streams that a rule had to stop and did stop. */
  readonly canaries: number;
  /** The highest revision that checked a request. */
  readonly newest: number;
  /** Failures, one sentence each. */
  readonly failed: readonly string[];
  readonly unguarded: readonly string[];
  readonly mixed: readonly string[];
};

type JudgedTraffic = {
  /** Requests that have completed. */
  readonly requests: () => number;
  /** Number of failed requests up to now. */
  readonly faults: () => number;
  /** Waits for calls in flight and returns the result. */
  readonly stop: () => Promise<TrafficReport>;
};

type TrafficOptions = {
  /** Origins of gateway replicas. */
  readonly urls: readonly string[];
  readonly key: string;
  readonly alias: string;
  /** The provider of the alias; the traffic sets its answers. */
  readonly upstream: Pick<ScriptedUpstream, 'play'>;
  /** Pause of each caller between two calls, milliseconds; 40 when absent. */
  readonly restMs?: number;
};

type Kind = 'whole' | 'stream' | 'long' | 'canary';
type Verdict = Pick<TrafficReport, 'failed' | 'unguarded' | 'mixed'>;
type Seen = Verdict & { readonly kind: Kind; readonly applications: number };

/** Waits until every replica serves the alias; each replica refuses it until its first probe succeeded. */
export async function untilServed(
  { urls, key, alias }: Pick<TrafficOptions, 'urls' | 'key' | 'alias'>,
  deadlineMs = 60_000,
): Promise<void> {
  const ask = (url: string) => chatCall({ url, key, model: alias, content: 'hello', stream: false });
  const isServed = async () => (await Promise.all(urls.map(ask))).every(({ status }) => status === 200);
  await until('every replica serves the alias', isServed, { deadlineMs, everyMs: 100 });
}

/**
 * Sends requests of every kind, almost without a pause, whose answers show which revision checked them
 * (marked-policy.ts).
 */
export function startJudgedTraffic({ urls, key, alias, upstream, restMs = 40 }: TrafficOptions): JudgedTraffic {
  let newest = 0;
  let isOver = false;
  const unmasked: string[] = [];
  upstream.play((request) => {
    if (request.text.includes(secret)) unmasked.push('the provider received the secret');
    for (const revision of stampsIn(request.text)) newest = Math.max(newest, revision);
    return answerTo(
      request.text,
      () => newest,
      () => isOver,
    );
  });
  let faults = 0;
  const call =
    (kindOf: (turn: number) => Kind) =>
    async (turn: number): Promise<Seen> => {
      const before = newest;
      const kind = kindOf(turn);
      const url = urls[turn % urls.length] ?? '';
      const content = `kind-${kind} ${secret}`;
      const result = await chatCall({ url, key, model: alias, content, stream: kind !== 'whole' });
      const verdict = judge(kind, result);
      if (verdict.failed.length > 0) faults += 1;
      return { kind, applications: newest - before, ...verdict };
    };
  const mixedKinds = (turn: number): Kind => (turn % 10 === 9 ? 'canary' : turn % 3 === 0 ? 'stream' : 'whole');
  const short = startLoad({ workers: 3, restMs, call: call(mixedKinds) });
  const long = startLoad({ workers: 2, restMs, call: call(() => 'long') });
  return {
    requests: () => short.results.length + long.results.length,
    faults: () => faults,
    async stop() {
      const ending = [short.stop(), long.stop()];
      isOver = true;
      const seen = (await Promise.all(ending)).flat();
      return {
        requests: seen.length,
        longStreams: seen.filter(({ kind, applications }) => kind === 'long' && applications >= outlived).length,
        canaries: seen.filter(({ kind }) => kind === 'canary').length,
        newest,
        failed: seen.flatMap(({ failed }) => failed),
        unguarded: [...seen.flatMap(({ unguarded }) => unguarded), ...unmasked],
        mixed: seen.flatMap(({ mixed }) => mixed),
      };
    },
  };
}

/** The provider answers with the mark of the revision that masked the input. */
function answerTo(text: string, newest: () => number, isOver: () => boolean): UpstreamScript {
  const [revision] = stampsIn(text);
  if (revision === undefined) return { kind: 'answer', content: 'unguarded' };
  const mark = revisionMark(revision);
  if (text.includes('kind-whole')) return { kind: 'answer', content: `${mark} ${secret} ${mark}` };
  if (text.includes('kind-canary')) {
    return { kind: 'answer', content: `${`${mark} `.repeat(150)}${canary}${' and more'.repeat(50)}`, frameLength: 32 };
  }
  if (text.includes('kind-long')) {
    const last = newest() + outlived;
    let hasBegun = false;
    return {
      kind: 'live',
      piece: (index) => {
        hasBegun = true;
        return `${mark} ${index} `;
      },
      everyMs: 20,
      // A request that arrives when the load ends still gets a text, which shows the revision that checked it.
      ends: () => hasBegun && (isOver() || newest() > last),
    };
  }
  return { kind: 'answer', content: `${mark} words `.repeat(120), frameLength: 64 };
}

function judge(kind: Kind, { status, error, complete, raw, text }: ChatResult): Verdict {
  const marks = new Set([...text.matchAll(/mark-(\d{4})-/g)].map((match) => Number(match[1])));
  for (const stamp of stampsIn(text)) marks.add(stamp);
  const leaks = raw.includes(canary) || raw.includes(secret) || text.includes('unguarded');
  const stopped = error?.type === 'guardrail_blocked' && !complete;
  const good = kind === 'canary' ? stopped : complete && marks.size === 1;
  const said = error === undefined ? 'no error' : `${error.type} ${error.code}`;
  return {
    failed: good ? [] : [`${kind}: status ${status}, ${said}`],
    unguarded: leaks ? [`${kind}: ${text.slice(0, 80)}`] : [],
    mixed: marks.size > 1 ? [`${kind}: checked by the revisions ${[...marks].join(', ')}`] : [],
  };
}
