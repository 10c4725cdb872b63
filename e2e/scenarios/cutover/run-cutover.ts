import { kinds } from '#crds/kinds';
import { type ChatResult, chatCall } from '../../support/chat-call.ts';
import { startLoad } from '../../support/load.ts';
import { applyRevision, bindingNow, bindingOf, conditionOf, policyOf, writePolicy } from '../../support/resources.ts';
import { contentFrame, startScriptedUpstream, type UpstreamScript } from '../../support/scripted-upstream.ts';
import { type Platform, startPlatform } from '../../support/start-platform.ts';
import { until } from '../../support/until.ts';
import { canary, markedDefinition, markOf, secret, stampsIn } from './marked-policy.ts';

export type CutoverOptions = {
  readonly applications: number;
  readonly gateways: number;
  readonly say: (progress: string) => void;
};

/** What happened to the load while revisions were applied one after the other. */
export type CutoverReport = {
  readonly applications: number;
  readonly requests: number;
  /** Streams during which at least `outlived` applications were completed, and what that number is. */
  readonly longStreams: number;
  readonly outlived: number;
  /** Canaries: streams that had to be stopped, and were. */
  readonly canaries: number;
  /** One sentence each. */
  readonly failed: readonly string[];
  readonly unguarded: readonly string[];
  readonly mixed: readonly string[];
};

const alias = 'cutover';
const outlived = 5;

type Kind = 'whole' | 'stream' | 'long' | 'canary';
type Seen = { readonly kind: Kind; readonly result: ChatResult; readonly applications: number };

/** How the provider answers: with the mark of the revision that masked the input. */
function answerTo(text: string, applied: () => number, isOver: () => boolean): UpstreamScript {
  const [revision] = stampsIn(text);
  if (revision === undefined) return { kind: 'answer', content: 'unguarded' };
  const mark = markOf(revision);
  if (text.includes('kind-whole')) return { kind: 'answer', content: `${mark} ${secret} ${mark}` };
  if (text.includes('kind-canary')) {
    return { kind: 'answer', content: `${`${mark} `.repeat(150)}${canary}${' and more'.repeat(50)}`, frameLength: 32 };
  }
  if (text.includes('kind-long')) {
    const last = applied() + outlived;
    return {
      kind: 'live',
      piece: (index) => `${mark} ${index} `,
      everyMs: 20,
      ends: () => isOver() || applied() > last,
    };
  }
  return { kind: 'answer', content: `${mark} words `.repeat(120), frameLength: 64 };
}

function judge(seen: readonly Seen[]): Pick<CutoverReport, 'failed' | 'unguarded' | 'mixed'> {
  const failed: string[] = [];
  const unguarded: string[] = [];
  const mixed: string[] = [];
  for (const { kind, result } of seen) {
    const { status, error, complete, raw, text } = result;
    const marks = new Set([...text.matchAll(/mark-(\d{4})-/g)].map((match) => Number(match[1])));
    for (const stamp of stampsIn(text)) marks.add(stamp);
    if (raw.includes(canary) || raw.includes(secret) || text.includes('unguarded'))
      unguarded.push(`${kind}: ${text.slice(0, 80)}`);
    if (marks.size > 1) mixed.push(`${kind}: judged by the revisions ${[...marks].join(', ')}`);
    const stopped = error?.type === 'guardrail_blocked' && !complete;
    const good = kind === 'canary' ? stopped : complete && marks.size === 1;
    if (!good)
      failed.push(`${kind}: status ${status}, ${error === undefined ? 'no error' : `${error.type} ${error.code}`}`);
  }
  return { failed, unguarded, mixed };
}

/** Writes each revision and applies it, one after the other, as fast as each is confirmed. */
async function applyAll(platform: Platform, options: CutoverOptions, onApplied: () => void): Promise<void> {
  const { client } = platform;
  for (let turn = 1; turn <= options.applications; turn += 1) {
    const wanted = turn + 1;
    const revision = await writePolicy(client, policyOf(alias, markedDefinition(wanted, options.applications + 1)));
    const generation = await applyRevision(client, alias, revision, `turn-${turn}`);
    await until(
      `application ${turn} is applied`,
      async () => {
        const binding = await bindingNow(client, alias);
        const applied = conditionOf(binding, 'Applied');
        return binding.metadata.generation === generation && applied?.status === 'True';
      },
      { deadlineMs: 60_000, everyMs: 25 },
    );
    onApplied();
    if (turn % 10 === 0) options.say(`${turn} of ${options.applications} applications`);
  }
}

/** Runs the whole scenario on a platform of its own. */
export async function runCutover(options: CutoverOptions): Promise<CutoverReport> {
  let applied = 0;
  let over = false;
  const unmasked: string[] = [];
  await using upstream = await startScriptedUpstream({ kind: 'frames', frames: [contentFrame('')], end: 'close' });
  await using platform = await startPlatform({
    gateways: options.gateways,
    providers: [{ name: 'scripted', kind: 'model', endpoint: `${upstream.url}/v1`, enabled: true }],
  });
  upstream.play((request) => {
    if (request.text.includes(secret)) unmasked.push('the provider saw the secret');
    return answerTo(
      request.text,
      () => applied,
      () => over,
    );
  });
  const first = await writePolicy(platform.client, policyOf(alias, markedDefinition(1, options.applications + 1)));
  await platform.client.create(kinds.modelBinding, bindingOf(alias, alias, first));
  await until(
    'the first application is applied',
    async () => conditionOf(await bindingNow(platform.client, alias), 'Applied')?.status === 'True',
    { deadlineMs: 60_000 },
  );

  const urls = platform.status().addresses.gateways;
  const call =
    (kind: Kind) =>
    async (turn: number): Promise<Seen> => {
      const before = applied;
      const url = urls[turn % urls.length] ?? '';
      const content = `kind-${kind} ${secret}`;
      const result = await chatCall({ url, key: platform.key, model: alias, content, stream: kind !== 'whole' });
      return { kind, result, applications: applied - before };
    };
  const mixedKinds = (turn: number): Kind => (turn % 10 === 9 ? 'canary' : turn % 3 === 0 ? 'stream' : 'whole');
  const short = startLoad({ workers: 3, restMs: 40, call: (turn) => call(mixedKinds(turn))(turn) });
  const long = startLoad({ workers: 2, restMs: 40, call: call('long') });
  await applyAll(platform, options, () => {
    applied += 1;
  });
  over = true;
  const seen = [...(await short.stop()), ...(await long.stop())];
  const verdict = judge(seen);
  return {
    applications: options.applications,
    requests: seen.length,
    longStreams: seen.filter(({ kind, applications }) => kind === 'long' && applications >= outlived).length,
    outlived,
    canaries: seen.filter(({ kind }) => kind === 'canary').length,
    ...verdict,
    unguarded: [...verdict.unguarded, ...unmasked],
  };
}
