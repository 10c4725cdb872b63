import { setTimeout as pause } from 'node:timers/promises';
import type { OperationResource, PolicyDetail } from '#contracts/management';
import { currentProfile } from '#contracts/profiles';
import { listAll } from '#kube/client/list-all';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { kinds } from '#resources/kinds';
import type { ModelBinding } from '#resources/model-binding';
import { definitionOf } from '../../operator/testing/objects.ts';
import { policyNameOf, revisionsOf } from './actions.ts';
import type { HttpResponse } from './call-api.ts';
import type { BusyWorld } from './open-busy-world.ts';
import { type CommandOptions, newKey } from './start-management.ts';

const list = '/api/v1/guardrail-policies';

type CrashOptions = {
  readonly commands: number;
  readonly workers: number;
  /** Duration of occasional SIGSTOPs of a replica, milliseconds; the lease of a command is 20 s. */
  readonly longStopMs: number;
  /** The commands are spread over at least so many kills: a fast machine sends them between a few. */
  readonly leastKills: number;
  readonly random: () => number;
};

type CrashReport = {
  readonly commands: number;
  readonly accepted: number;
  readonly refused: number;
  readonly kills: number;
  readonly stops: number;
  readonly faults: readonly string[];
  /** Operations of the commands that were answered with 202. */
  readonly operations: readonly string[];
};

type Sent = {
  readonly kind: 'create' | 'update' | 'archive' | 'refused' | 'apply' | 'misapply' | 'unbind';
  readonly marker: string;
  readonly answer: HttpResponse;
};
const sorts = [
  ...(['create', 'update', 'apply', 'create', 'update', 'apply', 'create', 'update', 'apply'] as const),
  ...(['misapply', 'unbind', 'unbind', 'archive', 'archive', 'refused'] as const),
];

/**
 * Sends commands of several clients, each repeated with its key until it is answered, while replicas are killed and
 * suspended.
 */
export async function commandThroughCrashes(world: BusyWorld, options: CrashOptions): Promise<CrashReport> {
  const { random } = options;
  const done = new AbortController();
  const lanes = await Promise.all(Array.from({ length: options.workers }, (_, worker) => openLane(world, worker)));
  const trouble = { kills: 0, stops: 0 };
  const chaos = makeTrouble(world, options, trouble, done.signal);
  const reach = async (share: number): Promise<void> => {
    while (trouble.kills < Math.floor(share * options.leastKills)) await Promise.race([pause(50), chaos]);
  };
  const sent = new Map<Lane, Sent[]>();
  let count = 0;

  await Promise.all(
    lanes.map(async (lane) => {
      const own: Sent[] = [];
      sent.set(lane, own);
      while (count < options.commands) {
        const number = count++;
        const marker = `command-${number}`;
        await reach(number / options.commands);
        const kind = sorts[Math.floor(random() * sorts.length)] ?? 'create';
        own.push({ kind, marker, answer: await lane[kind](marker) });
      }
    }),
  );
  await reach(1);
  done.abort();
  await chaos;
  const { kills, stops } = trouble;
  const all = [...sent.values()].flat();
  const faults = await judge(world, lanes, all);
  for (const [lane, own] of sent) faults.push(...(await judgeLane(world, lane, own)));
  const operations = all.filter(isAccepted).map(({ answer }) => String(answer.json.operationId));
  const accepted = operations.length;
  return { commands: all.length, accepted, refused: all.length - accepted, kills, stops, faults, operations };
}

const isAccepted = ({ answer }: Sent): boolean => answer.status === 202;

type Lane = Readonly<Record<Sent['kind'], (marker: string) => Promise<HttpResponse>>> & {
  readonly policyId: string;
  /** The policy that is archived and restored alternately. */
  readonly spareId: string;
  readonly bindingName: string;
  readonly readBinding: () => Promise<HttpResponse>;
};

/** Opens one client of the management API, with its own policy and model. */
async function openLane(world: BusyWorld, worker: number): Promise<Lane> {
  const bindingName = `lane-${worker}`;
  const policyId = (await patiently(() => world.act.createPolicy(bindingName))).id;
  const spareId = (await patiently(() => world.act.createPolicy(`${bindingName}-spare`))).id;
  const modelId = await world.act.createModel(bindingName);
  const model = `/api/v1/models/${modelId}/guardrail-binding`;

  const read = (path: string) =>
    patiently(async () => {
      for (const replica of [0, 1]) {
        const answer = await world.api.call(path, { replica }).catch(() => undefined);
        if (answer?.status === 200) return answer;
      }
      throw new Error('no replica answers');
    });
  /** Repeats the command with the same key until its outcome is known. */
  const send = async (method: 'POST' | 'PUT', path: string, body: unknown, more: CommandOptions = {}) => {
    const key = newKey();
    return patiently(async () => {
      for (const replica of [worker % 2, (worker + 1) % 2]) {
        const answer = await world.api.command(method, path, body, { ...more, key, replica }).catch(() => undefined);
        const isFinal =
          answer !== undefined && answer.status < 500 && answer.json?.error?.code !== 'idempotency_in_progress';
        if (isFinal) return answer;
      }
      throw new Error('the outcome of the command is unknown');
    });
  };

  const bind = async (body: Readonly<Record<string, unknown>>): Promise<HttpResponse> => {
    const { headers } = await read(model);
    return send('PUT', model, body, { etag: String(headers['etag']) });
  };
  const apply = (contentProfile: string) => bind({ policyId, policyRevision: 1, contentProfile });

  const save = async (id: string, marker: string, change: Partial<PolicyDetail> = {}, etag?: string) => {
    const { json, headers } = await read(`${list}/${id}`);
    const { name, status, definition } = json as PolicyDetail;
    const body = { name, status, definition, ...change, description: marker };
    return send('PUT', `${list}/${id}`, body, { etag: etag ?? String(headers['etag']) });
  };
  const archive = async (marker: string): Promise<HttpResponse> => {
    const { json } = await read(`${list}/${spareId}`);
    return save(spareId, marker, { status: json.status === 'archived' ? 'draft' : 'archived' });
  };

  return {
    policyId,
    spareId,
    bindingName,
    readBinding: () => read(model),
    create: (marker) => send('POST', list, { name: marker, definition: definitionOf(marker) }),
    update: (marker) => save(policyId, marker),
    archive,
    refused: (marker) => save(policyId, marker, {}, '"of-another-version"'),
    apply: () => apply(currentProfile),
    misapply: () => apply('no-profile-of-any-runtime'),
    unbind: () => bind({ policyId: null, policyRevision: null, contentProfile: currentProfile }),
  };
}

async function patiently<T>(attempt: () => Promise<T>): Promise<T> {
  const end = performance.now() + 120_000;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (performance.now() > end) throw error;
      await pause(100);
    }
  }
}

/** Kills or suspends one replica after another at random moments and restarts it. */
async function makeTrouble(
  world: BusyWorld,
  { random, longStopMs }: CrashOptions,
  trouble: { kills: number; stops: number },
  over: AbortSignal,
): Promise<void> {
  while (!over.aborted) {
    await pause(50 + random() * 300);
    const at = random() < 0.5 ? 0 : 1;
    const replica = world.api.replicas[at];
    if (replica === undefined) continue;
    if (random() < 0.5) {
      replica.signal('SIGKILL');
      trouble.kills++;
      await world.api.startReplica(at);
    } else {
      replica.signal('SIGSTOP');
      trouble.stops++;
      await pause(random() < 0.1 ? longStopMs : random() * 2_000);
      replica.signal('SIGCONT');
    }
  }
}

/**
 * Verifies that every accepted command ended with the right result and one effect, and that every refused command had
 * no effect.
 */
async function judge(world: BusyWorld, lanes: readonly Lane[], sent: readonly Sent[]): Promise<string[]> {
  // Recovery records a command that was in flight when its process was killed, before its operation ends.
  const ends = new Map<HttpResponse, OperationResource>();
  for (const { answer } of sent.filter(isAccepted)) ends.set(answer, await patiently(() => world.api.ended(answer)));
  const policies = (await listAll<GuardrailPolicy>(world.client, kinds.guardrailPolicy)).items;
  const saved = lanes.flatMap((lane) => [lane.policyId, lane.spareId]);
  const history = (await Promise.all(saved.map((id) => revisionsOf(world.client, id)))).flat();
  const faults: string[] = [];
  for (const { kind, marker, answer } of sent) {
    const made = policies.filter(({ spec }) => spec.displayName === marker).length;
    const versions = history.filter(({ spec }) => spec.description === marker).length;
    const isOfBinding = kind === 'apply' || kind === 'misapply' || kind === 'unbind';
    const effects = kind === 'create' ? made : isOfBinding ? undefined : versions;
    const end = ends.get(answer);
    if (kind === 'refused' && end !== undefined) faults.push(`${marker}: a command with a stale ETag was accepted`);
    if (end === undefined) {
      const isExpected = answer.status === 412 && kind !== 'create';
      if (!isExpected || (effects ?? 0) !== 0) faults.push(`${marker} (${kind}): ${answer.status}, ${effects} effects`);
      continue;
    }
    const isTrue = effects === undefined ? isEndOf(kind, end) : end.state === 'succeeded' && effects === 1;
    if (!isTrue) faults.push(`${marker} (${kind}): ${end.state} ${end.error?.code ?? ''}, ${effects} effects`);
  }
  return faults;
}

/** The operator applies the newest of several applications in quick succession. */
function isEndOf(kind: Sent['kind'], { state, error }: OperationResource): boolean {
  if (error?.code === 'superseded') return true;
  return kind === 'misapply' ? error?.code === 'profile_unsupported' : state === 'succeeded';
}

/** The state of a binding after its last command. */
const lastStates: Partial<Readonly<Record<Sent['kind'], string>>> = {
  apply: 'applied',
  misapply: 'failed',
  unbind: 'unbound',
};

/**
 * Each lane is the only writer of its resources: every accepted command is one generation, and the last command is
 * applied.
 */
async function judgeLane({ client, api }: BusyWorld, lane: Lane, own: readonly Sent[]): Promise<readonly string[]> {
  const accepted = own.filter(isAccepted);
  const binding = await client.get<ModelBinding>(kinds.modelBinding, lane.bindingName);
  const policy = await client.get<GuardrailPolicy>(kinds.guardrailPolicy, await policyNameOf(client, lane.policyId));
  const applies = accepted.filter(({ kind }) => kind in lastStates);
  const updates = accepted.filter(({ kind }) => kind === 'update');
  const faults: string[] = [];
  const expectCount = (what: string, found: number | undefined, wanted: number): void => {
    if (found !== wanted) faults.push(`${lane.bindingName}: ${found} ${what}, ${wanted} expected`);
  };
  expectCount('generations of the binding', binding?.metadata.generation, 1 + applies.length);
  expectCount('generations of the policy', policy?.metadata.generation, 1 + updates.length);
  const last = applies.at(-1);
  if (last === undefined) return faults;
  const end = await patiently(() => api.ended(last.answer));
  // The operator has read every confirmation; a suspended replica may read the last of them later.
  const json = await patiently(async () => {
    const read = await lane.readBinding();
    if (read.json.state === 'pending') throw new Error(`${lane.bindingName} is pending: ${read.text}`);
    return read.json;
  });
  const wanted = lastStates[last.kind];
  if (end.error?.code === 'superseded' || json.operationId !== end.operationId || json.state !== wanted) {
    faults.push(`${lane.bindingName}: ${json.state} by ${json.operationId}, ${wanted} by ${end.operationId} expected`);
  }
  return faults;
}
