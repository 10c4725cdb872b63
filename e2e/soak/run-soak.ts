import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import type { Definition } from '#contracts/policy';
import { until } from '#kit/testing/until';
import { isKubeError } from '#kube/client/kube-error';
import type { GatewayRoute } from '#resources/gateway-route';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { kinds } from '#resources/kinds';
import { descendantsOf } from '../../cli/testing/process-tree.ts';
import { root } from '../../hack/check/run-tool.ts';
import { definitionOf } from '../../operator/testing/objects.ts';
import { chatCall } from '../support/chat-call.ts';
import { startLoad } from '../support/load.ts';
import { bindingCondition, bindingOf, policyOf } from '../support/resources.ts';
import { type Platform, startPlatform } from '../support/start-platform.ts';
import { lookAt, type MonitoredProcess } from './follow-process.ts';
import { type Growth, judgeSlopes, leastSamples, type ProcessSample } from './judge-slopes.ts';

type SoakOptions = {
  readonly warmUpSeconds: number;
  /** Shortest duration; a soak ends once each process also has the samples of a slope. */
  readonly seconds: number;
  readonly lookEverySeconds: number;
  /** Whether the change history of the resource server, which keeps 64 MiB of changes, is filled before the soak. */
  readonly fillHistory: boolean;
  /** Files of e2e that are preloaded into every process. */
  readonly defects?: readonly string[];
  readonly say: (progress: string) => void;
};

type SoakReport = {
  readonly requests: number;
  /** Failed requests, and answers that differ from the model's text. */
  readonly failed: number;
  readonly edits: number;
  readonly applications: number;
  /** Watches that ended during the soak, and the permitted number. */
  readonly watches: { readonly ended: number; readonly bound: number };
  readonly restarts: number;
  readonly growth: readonly (Growth & { readonly process: string })[];
  readonly faults: readonly string[];
};

/** The server ends a watch after 20 to 25 s; at most this many are open at a time. */
const mostWatches = 12;
const shortestWatchSeconds = 20;
/**
 * Heap that one change occupies in the history of the resource server until the history is full; the limit of the
 * history is in bytes.
 */
const historyBytes = 12_288;
/**
 * Changes of this size fill the history up to its limit, so that the changes of the soak replace an equal number of
 * bytes.
 */
const filler = { changes: 4_500, bytes: 16_384 } as const;
/** Heap of a change in addition to its bytes, if several small changes replace a large one. */
const changeBytes = 1_024;

/**
 * Makes steady edits and traffic on a complete standalone platform; the levels of its processes are sampled after a
 * warm-up.
 */
export async function runSoak(options: SoakOptions): Promise<SoakReport> {
  const { say } = options;
  const loaded = ['e2e/soak/say-level.ts', ...(options.defects ?? [])].map(
    (file) => `--import ${pathToFileURL(join(root, file)).href}`,
  );
  const nodeOptions = ['--expose-gc', '--max-semi-space-size=4', ...loaded].join(' ');
  await using platform = await startPlatform({ environment: { NODE_OPTIONS: nodeOptions } });
  await prepare(platform);
  if (options.fillHistory) await fillHistory(platform);
  const edits = startEdits(platform);
  const { url, key } = { url: platform.status().addresses.gateway, key: platform.key };
  const load = startLoad({
    workers: 4,
    restMs: 20,
    call: async (turn) => {
      const content = `message ${turn}`;
      const answer = await chatCall({ url, key, model: 'guarded-echo', content, stream: turn % 2 === 0 });
      return answer.status === 200 && answer.complete && answer.text === content;
    },
  });
  try {
    await pause(options.warmUpSeconds * 1_000);
    const followed = await followedOf(platform);
    const [changesBefore, watchesBefore] = [await newestChange(platform), await endedWatches(platform)];
    const looks = new Map<string, ProcessSample[]>(followed.map(({ name }) => [name, []]));
    const begun = performance.now();
    // On a slow machine a round of samples can take longer than the pause between two rounds.
    for (let rounds = 0; rounds < leastSamples || performance.now() - begun < options.seconds * 1_000; rounds += 1) {
      for (const one of followed) {
        looks.get(one.name)?.push(await lookAt(one, (performance.now() - begun) / 1_000));
      }
      await pause(options.lookEverySeconds * 1_000);
    }
    const seconds = (performance.now() - begun) / 1_000;
    const ended = (await endedWatches(platform)) - watchesBefore;
    const changes = (await newestChange(platform)) - changesBefore;
    const kept = changes * (options.fillHistory ? changeBytes : historyBytes);
    const growth = followed.flatMap(({ name }) => {
      const allowed = name === 'operator' ? { live: kept, resident: kept } : {};
      return judgeSlopes(looks.get(name) ?? [], allowed).map((one) => ({ process: name, ...one }));
    });
    say(`${changes} changes of resources`);
    for (const { name, pid } of followed) say(`${name} (${pid}): ${(looks.get(name) ?? []).map(lineOf).join(' ')}`);
    const counts = await edits.stop();
    const answers = await load.stop();
    return judge({
      requests: answers.length,
      failed: answers.filter((isRight) => !isRight).length,
      ...counts,
      watches: { ended, bound: Math.ceil(mostWatches * (seconds / shortestWatchSeconds + 1)) },
      restarts: await restartsOf(platform, followed),
      growth,
    });
  } finally {
    await edits.stop().catch(() => undefined);
    await load.stop().catch(() => undefined);
  }
}

function judge(report: Omit<SoakReport, 'faults'>): SoakReport {
  const { growth, watches, failed, restarts, requests, edits, applications } = report;
  const faults = [
    ...growth
      .filter(({ holds }) => !holds)
      .map(
        ({ process: name, measure, grown, bound }) =>
          `${measure} of ${name} grew by ${Math.round(grown)}, at most ${Math.round(bound)}`,
      ),
    ...(watches.ended > watches.bound ? [`${watches.ended} watches ended, at most ${watches.bound}`] : []),
    ...(failed > 0 ? [`${failed} of ${requests} requests failed`] : []),
    ...(restarts > 0 ? [`${restarts} processes were restarted`] : []),
    ...(requests === 0 || edits === 0 || applications === 0 ? ['nothing went on'] : []),
  ];
  return { ...report, faults };
}

/** Two revisions of a policy, and a binding that alternates between them. */
async function prepare({ client }: Platform): Promise<void> {
  await client.create(kinds.guardrailPolicy, policyOf('soaked', definitionOf('one')));
  await recorded(client, 1);
  await client.patch(kinds.guardrailPolicy, 'soaked', [
    { op: 'replace', path: '/spec/definition', value: definitionOf('two') },
  ]);
  await recorded(client, 2);
  await client.create(kinds.modelBinding, bindingOf('moving', 'soaked', 1, 'echo'));
  await bindingCondition(client, 'moving', 'Applied', 'True');
  await bindingCondition(client, 'guarded-echo', 'Applied', 'True');
}

function recorded(client: Platform['client'], number: number): Promise<unknown> {
  return until(`revision ${number} is recorded`, async () => {
    const policy = await client.get<GuardrailPolicy>(kinds.guardrailPolicy, 'soaked');
    return policy?.status?.latestRevision?.number === number;
  });
}

async function fillHistory({ client }: Platform): Promise<void> {
  let left = filler.changes;
  const work = async (index: number): Promise<void> => {
    await client.create(kinds.guardrailPolicy, policyOf(`filler-${index}`, largeDefinition()));
    for (; left > 0; left -= 1) {
      await client.patch(kinds.guardrailPolicy, `filler-${index}`, [
        { op: 'add', path: '/metadata/annotations', value: { turn: String(left) } },
      ]);
    }
  };
  await Promise.all(Array.from({ length: 4 }, (_, index) => work(index)));
}

/** Large in the stored bytes only: metadata is also kept as objects, which the soak would release again. */
function largeDefinition(): Definition {
  const { request, response, providers } = definitionOf('filler');
  const [rule] = request.baseline;
  if (rule?.kind !== 'stop_list') throw new TypeError('a section begins with a stop list');
  const terms = Array.from({ length: filler.bytes / 32 }, (_, index) => `filler-${String(index).padStart(22, '0')}`);
  const baseline: typeof request.baseline = [{ ...rule, stopList: { ...rule.stopList, terms } }];
  return { request: { ...request, baseline }, response, providers };
}

/** An edit every 300 ms: an upstream name, a switch, creation or deletion of an unguarded binding, an application. */
function startEdits({ client }: Platform) {
  const counts = { edits: 0, applications: 0 };
  let isRunning = true;
  const edit = (name: string, path: string, value: unknown) =>
    client.patch(kinds.modelBinding, name, [{ op: 'add', path, value }]);
  const acts = [
    (turn: number) => edit('guarded-echo', '/spec/model/upstreamModel', `echo-${turn % 7}`),
    async (turn: number) => {
      const revision = (turn % 2) + 1;
      const { spec } = bindingOf('moving', 'soaked', revision, 'echo');
      await edit('moving', '/spec', { ...spec, apply: `turn-${turn}` });
      await bindingCondition(client, 'moving', 'Applied', 'True');
      counts.applications += 1;
    },
    (turn: number) => {
      const open = bindingOf(`passing-${turn}`, 'soaked', 1, 'echo');
      return client.create(kinds.modelBinding, { ...open, spec: { ...open.spec, guardrail: { mode: 'None' } } });
    },
    async (turn: number) => {
      const name = `passing-${turn - 1}`;
      const held = await client.get(kinds.modelBinding, name);
      if (held !== undefined) await client.delete(kinds.modelBinding, name, { uid: held.metadata.uid });
    },
  ];
  const running = (async () => {
    for (let turn = 0; isRunning; turn += 1) {
      await acts[turn % acts.length]?.(turn).catch((error: unknown) => {
        if (!isKubeError(error, 'conflict', 'not_found')) throw error;
      });
      counts.edits += 1;
      await pause(300);
    }
  })();
  running.catch(() => undefined);
  return {
    stop: async () => {
      isRunning = false;
      await running;
      return counts;
    },
  };
}

/** Operator, gateway, echo provider, and the runtime that checks the traffic, which the edits do not replace. */
async function followedOf({ data, status, client, pidOf }: Platform): Promise<readonly MonitoredProcess[]> {
  const logs = join(data, 'logs');
  const supervised = status().processes.map(({ name, pid }) => ({ name, pid, log: join(logs, `${name}.log`) }));
  const route = await client.get<GatewayRoute>(kinds.gatewayRoute, 'guarded-echo');
  const workload = `${route?.spec.workload}-0`;
  const runtime = descendantsOf(pidOf('operator')).find((pid) => environmentOf(pid).includes(`/${workload}.reason`));
  if (runtime === undefined) throw new Error(`no process runs the workload ${workload}`);
  return [...supervised, { name: 'runtime', pid: runtime, log: undefined }];
}

function environmentOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8');
  } catch {
    return '';
  }
}

async function restartsOf(platform: Platform, followed: readonly MonitoredProcess[]): Promise<number> {
  const now = await followedOf(platform);
  return followed.filter(({ name, pid }) => now.find((one) => one.name === name)?.pid !== pid).length;
}

/** The sequence number of the newest change of any resource. */
async function newestChange({ client }: Platform): Promise<number> {
  return Number((await client.list(kinds.gatewayReport)).resourceVersion);
}

/**
 * Watches that the resource server ended: requests without a recorded duration
 * (operator/folder-api/http/request-metrics.ts).
 */
async function endedWatches({ status }: Platform): Promise<number> {
  const { addresses } = status() as { addresses: { operator?: string } };
  const text = await (await fetch(new URL('/metrics', addresses.operator))).text();
  const sum = (pattern: RegExp): number =>
    [...text.matchAll(pattern)].reduce((total, [, value]) => total + Number(value), 0);
  return (
    sum(/^portcullis_folder_api_requests_total\{[^}]*verb="GET"[^}]*\} (\S+)$/gm) -
    sum(/^portcullis_folder_api_request_seconds_count\{[^}]*verb="GET"[^}]*\} (\S+)$/gm)
  );
}

function lineOf({ live, resident, descriptors, timers }: ProcessSample): string {
  return `${(live / 2 ** 20).toFixed(1)}/${Math.round(resident / 2 ** 20)}/${descriptors}/${timers}`;
}
