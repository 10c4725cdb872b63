import type { Logger } from '#kit/log/logger';
import type { Clock } from '#kit/time/clock';
import { ensureObject, NameConflictError } from '#kube/apply/ensure-object';
import type { KubeClient } from '#kube/client/client';
import { isKubeError } from '#kube/client/kube-error';
import type { WorkloadTemplate } from '../../../environment/workload-template.ts';
import { startController } from '../../../reconcile/controller.ts';
import { BrokenError, outcomeOfError, type PassOutcome } from '../../../reconcile/outcome.ts';
import type { ReconcileMeter } from '../../../reconcile/reconcile-metrics.ts';
import type { RunnableWorkload, WorkloadObservation, WorkloadRequest, Workloads } from '../../ports.ts';
import { describeProblem } from './describe-problem.ts';
import { controllerOf, desiredObjects, type WorkloadPart, workloadKinds } from './desired-objects.ts';
import { readManifest, renderManifest, type WorkloadManifest } from './manifest.ts';
import { watchObjects } from './watched-objects.ts';

/** Workloads that are brought to what is asked for at the same time. */
const concurrency = 4;
/** What of a refusal of the API server is shown. */
const maxRefusal = 300;
/** Objects go with their RuntimeWorkload; that it is gone is seen a moment before they are made again. */
const goneMs = 1_000;
/** Manifests of which is remembered whether they can be read. */
const remembered = 16_384;

export type DeploymentsOptions = {
  readonly client: KubeClient;
  /** What the pods of new workloads are made of. */
  readonly template: WorkloadTemplate;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly meter: ReconcileMeter;
};

/** Workloads in a cluster; nothing is observed before `synced`. */
export type Deployments = Workloads & {
  readonly synced: Promise<void>;
  /** The longest time, in milliseconds, for which a watch has not heard of its server. */
  silenceMs(): number;
};

type Asked = {
  request: WorkloadRequest;
  readonly manifest: WorkloadManifest;
  readonly address: string;
  /** Whether a process answered at the address once. */
  wasReady: boolean;
  /** Why the objects are not as they should be. */
  refusal: string | undefined;
  /** What was told last, as text. */
  told: string;
};

/**
 * Workloads as Deployments, each with a Service, a NetworkPolicy and, from two pods on, a PodDisruptionBudget. They
 * belong to the RuntimeWorkload and hold what its manifest says; what others change is changed back. Processes go on
 * when the operator ends.
 */
export function createDeployments(options: DeploymentsOptions): Deployments {
  const { client, template, clock, logger, meter } = options;
  const running = new Map<string, Asked>();
  /** Workloads to take away, with the UID of the RuntimeWorkload that they belonged to. */
  const leaving = new Map<string, string>();
  const readable = new Map<string, boolean>();
  let listener: (name: string) => void = () => undefined;
  const queue = startController({ name: 'deployment', concurrency, logger, meter, reconcile });
  const watched = watchObjects({ client, logger, clock, onChange: look });

  /** Something about a workload changed: it may have to be mended, and it may have to be told. */
  function look(name: string, isGone: boolean): void {
    const asked = running.get(name);
    if (asked === undefined) return;
    if (isGone) queue.addAfter(name, goneMs);
    else queue.add(name);
    tell(name, asked);
  }

  function tell(name: string, asked: Asked): void {
    const now = JSON.stringify(observationOf(asked));
    if (now === asked.told) return;
    asked.told = now;
    listener(name);
  }

  async function reconcile(name: string): Promise<PassOutcome> {
    await watched.synced;
    await takeAway(name);
    const asked = running.get(name);
    if (asked !== undefined) await bring(name, asked);
    return { kind: 'settled' };
  }

  async function bring(name: string, asked: Asked): Promise<void> {
    try {
      for (const part of desiredObjects(asked.manifest, asked.request)) await bringPart(name, asked, part);
      asked.refusal = undefined;
    } catch (error) {
      asked.refusal = refusalOf(error) ?? asked.refusal;
      throw error instanceof NameConflictError ? new BrokenError('Refused', error.message, { cause: error }) : error;
    } finally {
      tell(name, asked);
    }
  }

  async function bringPart(name: string, { request }: Asked, { kind, desired }: WorkloadPart): Promise<void> {
    const current = watched.object(kind, name);
    if (desired === undefined) {
      if (current === undefined || controllerOf(current) !== request.uid) return;
      await client.delete(kind, name, { uid: current.metadata.uid }).catch(ignoreAbsent);
      return;
    }
    const { action, notKept } = await ensureObject(client, kind, desired, { current });
    if (action !== 'unchanged') logger.info('workload_object_written', { workload: name, kind: kind.kind, action });
    for (const path of notKept) logger.warn('workload_object_not_kept', { workload: name, kind: kind.kind, path });
  }

  /** Whatever belonged to the RuntimeWorkload; read anew, for what was just made may not have been seen yet. */
  async function takeAway(name: string): Promise<void> {
    const owner = leaving.get(name);
    if (owner === undefined) return;
    for (const kind of [...workloadKinds].toReversed()) {
      const object = await client.get(kind, name);
      if (object === undefined || controllerOf(object) !== owner) continue;
      await client.delete(kind, name, { uid: object.metadata.uid }).catch(ignoreAbsent);
    }
    if (leaving.get(name) === owner) leaving.delete(name);
  }

  function observationOf(asked: Asked): WorkloadObservation {
    const { name, uid } = asked.request;
    const deployment = watched.deployment(name);
    const service = watched.service(name);
    const isOurs = deployment !== undefined && controllerOf(deployment) === uid;
    const isServed = service !== undefined && controllerOf(service) === uid;
    const ready = isOurs && isServed ? (deployment.status?.readyReplicas ?? 0) : 0;
    asked.wasReady ||= ready > 0;
    return {
      addresses: asked.wasReady ? [asked.address] : [],
      ready,
      problem: asked.refusal ?? (isOurs ? describeProblem(deployment, watched.pods(name)) : undefined),
    };
  }

  function ensure(request: WorkloadRequest): void {
    const { name } = request;
    const held = running.get(name);
    if (held === undefined || held.request.uid !== request.uid) {
      begin(request);
    } else {
      if (held.request.manifest !== request.manifest) throw new TypeError(`the workload ${name} has another manifest`);
      const isSame = held.request.replicas === request.replicas;
      held.request = request;
      if (isSame) return;
    }
    queue.add(name);
  }

  /** Asked of every workload in every pass over what needs it; the text is immutable. */
  function isReadable(manifest: string): boolean {
    const known = readable.get(manifest);
    if (known !== undefined) return known;
    if (readable.size >= remembered) readable.clear();
    const found = readManifest(manifest) !== undefined;
    readable.set(manifest, found);
    return found;
  }

  function begin(request: WorkloadRequest): void {
    const { name, manifest: text, addresses } = request;
    const manifest = readManifest(text, name);
    if (manifest === undefined) throw new TypeError(`the workload ${name} cannot be run here`);
    const address = `http://${name}.${client.namespace}.svc:${manifest.port}`;
    const wasReady = addresses.includes(address);
    if (leaving.get(name) === request.uid) leaving.delete(name);
    running.set(name, { request, manifest, address, wasReady, refusal: undefined, told: '' });
  }

  return {
    canRun: ({ manifest }: RunnableWorkload) => isReadable(manifest),
    render: (rendering) => renderManifest(rendering, template),
    ensure,
    observe(name) {
      const asked = running.get(name);
      return asked === undefined ? { addresses: [], ready: 0, problem: undefined } : observationOf(asked);
    },
    remove(name) {
      const asked = running.get(name);
      if (asked === undefined) return;
      running.delete(name);
      leaving.set(name, asked.request.uid);
      queue.add(name);
    },
    has: (name) => running.has(name),
    onChange(next) {
      listener = next;
    },
    synced: watched.synced,
    silenceMs: () => watched.silenceMs(),
    async [Symbol.asyncDispose]() {
      await queue[Symbol.asyncDispose]();
      await watched[Symbol.asyncDispose]();
    },
  };
}

/** What the API server says of our own object; a fault of the connection is none of the workload. */
function refusalOf(error: unknown): string | undefined {
  if (error instanceof NameConflictError) return error.message;
  if (isKubeError(error, 'invalid', 'forbidden')) {
    return `the API server refuses an object of the workload: ${error.message.slice(0, maxRefusal)}`;
  }
  const outcome = outcomeOfError(error);
  return outcome.kind === 'broken' && outcome.reason !== 'ServerUnavailable' ? outcome.message : undefined;
}

function ignoreAbsent(error: unknown): void {
  if (!isKubeError(error, 'not_found', 'conflict')) throw error;
}
