import { isDeepStrictEqual } from 'node:util';
import type { Logger } from '#kit/log/logger';
import type { Clock } from '#kit/time/clock';
import { ensureObject, NameConflictError } from '#kube/apply/ensure-object';
import { builtinKinds } from '#kube/client/builtin-kinds';
import type { ConfigMap } from '#kube/client/builtin-types';
import type { KubeClient } from '#kube/client/client';
import { isKubeError, KubeError } from '#kube/client/kube-error';
import { controllerOf, type KubeObject } from '#kube/client/kube-object';
import { apiVersion, type Kind, kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import { workloadHost } from '#resources/runtime-workload';
import type { AgentTemplate } from '../../../environment/agent-template.ts';
import { startController } from '../../../reconcile/controller.ts';
import { BrokenError, outcomeOfError, type PassOutcome } from '../../../reconcile/outcome.ts';
import type { ReconcileMeter } from '../../../reconcile/reconcile-metrics.ts';
import { versionBundleSchema } from '../../agent-bundle.ts';
import { missingPolicy, type ServedRevision } from '../../missing-policy.ts';
import type { AgentHost, AgentHostProblem, AgentObservation, AgentRequest } from '../../ports.ts';
import { lookAtPod, type PodLook, type ReachPod, reachPod } from './agent-looks.ts';
import { type AgentManifest, makeAgentConfigMap, makeAgentManifest, readAgentManifest } from './agent-manifest.ts';
import { currentPod, observeAgent } from './observe-agent.ts';
import { agentVersionAnnotation } from './resources/agent-labels.ts';
import { agentBundleKey, agentPorts } from './resources/agent-pod.ts';
import { agentKinds, watchAgents } from './watched-agents.ts';

/** Workloads whose objects are applied at the same time. */
const concurrency = 4;
/** Longest part of an API server's error message that a condition shows. */
const maxRefusal = 300;
/** Delay until policies that are not served yet are checked again, milliseconds. */
const policyMs = 2_000;

type AgentDeploymentsOptions = {
  readonly client: KubeClient;
  readonly template: AgentTemplate;
  readonly servedRevision: ServedRevision;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly meter: ReconcileMeter;
  /** Replaces the addresses of pods in tests. */
  readonly reach?: ReachPod;
};

/** Agents in a cluster; observations are empty before `synced` resolves. */
export type AgentDeployments = AgentHost & {
  readonly synced: Promise<void>;
  /** Milliseconds since the least recent contact of a watch with the API server. */
  silenceMs(): number;
};

type HeldAgent = {
  readonly request: AgentRequest;
  /**
   * Whether `ensure` was called for the version; otherwise its workload is only observed until the version is deleted.
   */
  isWanted: boolean;
  manifest: AgentManifest | undefined;
  /** UID of the ConfigMap that was found to hold the manifest. */
  configMapUid: string | undefined;
  refusal: AgentHostProblem | undefined;
  /** Whether a pass over the objects of the version has ended. */
  wasApplied: boolean;
  look: PodLook | undefined;
  reported: AgentObservation | undefined;
};

/**
 * Versions of agents as Deployments of one pod, each with a Service, a NetworkPolicy and an immutable ConfigMap. The
 * ConfigMap contains the bundle and the manifest of the other objects. The AgentVersion owns them. The pods keep
 * running when the operator ends; drift is corrected (docs/design/agent-versions.md).
 */
export function createAgentDeployments(options: AgentDeploymentsOptions): AgentDeployments {
  const { client, template, servedRevision, clock, logger, meter, reach = reachPod } = options;
  const held = new Map<string, HeldAgent>();
  /** Removed workloads whose objects are still to be deleted, with the UID of their AgentVersion. */
  const removed = new Map<string, string>();
  let listener: (resource: string) => void = () => undefined;
  const queue = startController({ name: 'agentdeployment', concurrency, logger, meter, reconcile });
  const watched = watchAgents({
    client,
    logger,
    clock,
    onChange(name) {
      const agent = held.get(name);
      if (agent === undefined) return;
      if (agent.isWanted) queue.add(name);
      follow(name, agent);
      agent.look?.hasten();
      notify(name, agent);
    },
  });

  function observationOf(name: string, agent: HeldAgent): AgentObservation | undefined {
    if (!agent.wasApplied) return undefined;
    const pods = watched.pods(name);
    const pod = currentPod(name, pods);
    const look = agent.look?.podUid === pod?.metadata.uid ? agent.look : undefined;
    const observed = observeAgent(name, {
      refusal: agent.refusal,
      deployment: watched.deployment(name),
      pods,
      pod,
      look,
    });
    if (observed === undefined || watched.deployment(name) === undefined) return observed;
    return { ...observed, address: `http://${workloadHost(name, client.namespace)}:${agentPorts.http}` };
  }

  function notify(name: string, agent: HeldAgent): void {
    const observed = observationOf(name, agent);
    if (isDeepStrictEqual(withoutRuns(observed), withoutRuns(agent.reported))) return;
    agent.reported = observed;
    listener(agent.request.resource);
  }

  /** Looks at the pod that runs now, and at no other. */
  function follow(name: string, agent: HeldAgent): void {
    const pod = currentPod(name, watched.pods(name));
    if (pod?.metadata.uid === agent.look?.podUid) return;
    agent.look?.[Symbol.dispose]();
    agent.look = undefined;
    const ip = pod?.status?.podIP;
    if (pod === undefined || ip === undefined) return;
    agent.look = lookAtPod(pod, reach(ip), agent.request.bundle, {
      onChange: () => notify(name, agent),
      onFault: () => logger.error('agent_not_read', { workload: name }),
    });
  }

  async function reconcile(name: string): Promise<PassOutcome> {
    await watched.synced;
    await deleteObjects(name);
    const agent = held.get(name) ?? (await adopt(name));
    if (agent === undefined) return { kind: 'settled' };
    const outcome = agent.isWanted ? await apply(name, agent) : ({ kind: 'settled' } as const);
    agent.wasApplied = true;
    if (held.get(name) !== agent) return { kind: 'settled' };
    follow(name, agent);
    notify(name, agent);
    return outcome;
  }

  async function apply(name: string, agent: HeldAgent): Promise<PassOutcome> {
    try {
      const manifest = await keepManifest(agent);
      agent.refusal = missingPolicy(agent.request.bundle, servedRevision);
      // A pod that waits for a policy would be restarted with growing pauses, so the pod is created when it can start.
      if (agent.refusal !== undefined && watched.deployment(name) === undefined) {
        return { kind: 'waiting', afterMs: policyMs };
      }
      agent.refusal = undefined;
      for (const { kind, desired } of partsOf(manifest, agent.request)) {
        const { action } = await ensureObject(client, kind, desired, { current: watched.object(kind, name) });
        if (action !== 'unchanged') logger.info('agent_object_written', { workload: name, kind: kind.kind, action });
      }
      return { kind: 'settled' };
    } catch (error) {
      agent.refusal = refusalOf(error) ?? agent.refusal;
      agent.wasApplied = true;
      notify(name, agent);
      throw error instanceof NameConflictError ? new BrokenError('Refused', error.message, { cause: error }) : error;
    }
  }

  /**
   * The manifest with which the version was first run, or a new manifest, in the ConfigMap that the pod of the version
   * mounts. A ConfigMap that is lost later is created again from the manifest in memory, so that the Deployment does
   * not change.
   */
  async function keepManifest(agent: HeldAgent): Promise<AgentManifest> {
    const { request } = agent;
    const { name, bundle } = request;
    const seen = watched.configMap(name)?.metadata;
    const isKept = seen?.uid === agent.configMapUid && seen?.deletionTimestamp === undefined;
    if (agent.manifest !== undefined && isKept) return agent.manifest;
    const found = await client.get<ConfigMap>(builtinKinds.configMap, name);
    const stored = found ?? (await createConfigMap(request, agent.manifest ?? makeAgentManifest(request, template)));
    const manifest = readAgentManifest(stored);
    const isOwn = controllerOf(stored) === bundle.versionId && manifest !== undefined;
    if (!isOwn || !isDeepStrictEqual(agent.manifest ?? manifest, manifest)) {
      throw new BrokenError('Refused', `the ConfigMap ${name} is not the one of this version: remove it`);
    }
    if (stored.metadata.deletionTimestamp !== undefined) {
      throw new KubeError('conflict', `the ConfigMap ${name} is being deleted`);
    }
    agent.manifest = manifest;
    agent.configMapUid = stored.metadata.uid;
    return manifest;
  }

  async function createConfigMap(request: AgentRequest, manifest: AgentManifest): Promise<Stored<ConfigMap>> {
    const desired = owned(makeAgentConfigMap(request, manifest, template.labels), request);
    const created = await client.create<ConfigMap>(builtinKinds.configMap, desired);
    logger.info('agent_object_written', {
      workload: request.name,
      kind: builtinKinds.configMap.kind,
      action: 'created',
    });
    return created;
  }

  /** A version that an earlier operator ran and that is now deleted: its runs are still counted. */
  async function adopt(name: string): Promise<HeldAgent | undefined> {
    if (watched.deployment(name) === undefined) return undefined;
    const stored = await client.get<ConfigMap>(builtinKinds.configMap, name);
    const resource = stored?.metadata.annotations?.[agentVersionAnnotation];
    const bundle = readBundle(stored);
    if (resource === undefined || bundle === undefined) return undefined;
    const agent: HeldAgent = {
      request: { name, resource, bundle },
      isWanted: false,
      manifest: undefined,
      configMapUid: undefined,
      refusal: undefined,
      wasApplied: false,
      look: undefined,
      reported: undefined,
    };
    held.set(name, agent);
    return agent;
  }

  /** Each object is read live, because the watch may not have reported an object that was just created. */
  async function deleteObjects(name: string): Promise<void> {
    const owner = removed.get(name);
    if (owner === undefined) return;
    for (const kind of [...agentKinds.toReversed(), builtinKinds.configMap]) {
      const object = await client.get(kind, name);
      if (object === undefined || controllerOf(object) !== owner) continue;
      await client.delete(kind, name, { uid: object.metadata.uid }).catch(ignoreAbsent);
    }
    if (removed.get(name) === owner) removed.delete(name);
  }

  return {
    build: template.image,
    publicUrl: new URL(template.publicUrl),
    runsImages: true,
    ensure(request) {
      const { name } = request;
      const agent = held.get(name);
      if (agent?.isWanted === true) return;
      agent?.look?.[Symbol.dispose]();
      const fresh = { manifest: undefined, configMapUid: undefined, refusal: undefined, wasApplied: false };
      held.set(name, { ...fresh, request, isWanted: true, look: undefined, reported: undefined });
      removed.delete(name);
      queue.add(name);
    },
    observe(name) {
      const agent = held.get(name);
      if (agent !== undefined) return observationOf(name, agent);
      if (watched.deployment(name) !== undefined) queue.add(name);
      return undefined;
    },
    remove(name) {
      const agent = held.get(name);
      const owner = agent?.request.bundle.versionId ?? ownerOf(watched.deployment(name));
      agent?.look?.[Symbol.dispose]();
      held.delete(name);
      if (owner === undefined) return;
      removed.set(name, owner);
      queue.add(name);
    },
    has: (name) => held.get(name)?.isWanted === true,
    requestOf: (name) => held.get(name)?.request,
    runs: (name) => held.has(name) || watched.deployment(name) !== undefined,
    onChange(next) {
      listener = next;
    },
    synced: watched.synced,
    silenceMs: () => watched.silenceMs(),
    async [Symbol.asyncDispose]() {
      for (const { look } of held.values()) look?.[Symbol.dispose]();
      await queue[Symbol.asyncDispose]();
      await watched[Symbol.asyncDispose]();
    },
  };
}

type AgentPart = { readonly kind: Kind; readonly desired: KubeObject };

/** The objects in the order of their creation: access to the pod is restricted before the pod exists. */
function partsOf({ networkPolicy, service, deployment }: AgentManifest, request: AgentRequest): readonly AgentPart[] {
  return [
    ...(networkPolicy === undefined
      ? []
      : [{ kind: builtinKinds.networkPolicy, desired: owned(networkPolicy, request) }]),
    { kind: builtinKinds.service, desired: owned(service, request) },
    { kind: builtinKinds.deployment, desired: owned(deployment, request) },
  ];
}

/** The AgentVersion owns the objects of its workload; its UID is the id of the version. */
function owned<O extends Pick<KubeObject, 'metadata'>>(object: O, { resource, bundle }: AgentRequest): O {
  const owner = { apiVersion, kind: kinds.agentVersion.kind, name: resource, uid: bundle.versionId, controller: true };
  return { ...object, metadata: { ...object.metadata, ownerReferences: [owner] } };
}

function ownerOf(object: Stored<KubeObject> | undefined): string | undefined {
  return object === undefined ? undefined : controllerOf(object);
}

function readBundle(stored: ConfigMap | undefined): AgentRequest['bundle'] | undefined {
  try {
    return versionBundleSchema.safeParse(JSON.parse(stored?.data?.[agentBundleKey] ?? '')).data;
  } catch {
    return undefined;
  }
}

/** The observation without the number of runs, which changes with every call and which only a deletion reads. */
function withoutRuns(observed: AgentObservation | undefined): unknown {
  const { state } = observed ?? {};
  return observed === undefined ? undefined : { ...observed, state: state && { ...state, runs: 0 } };
}

/** The error of the API server about an object; undefined for a connection error, which is not a fault of the object. */
function refusalOf(error: unknown): AgentHostProblem | undefined {
  const refused = (message: string): AgentHostProblem => ({ reason: 'ObjectRefused', message });
  if (error instanceof NameConflictError) return refused(error.message);
  if (isKubeError(error, 'invalid', 'forbidden')) {
    return refused(`the API server refuses an object of the version: ${error.message.slice(0, maxRefusal)}`);
  }
  const outcome = outcomeOfError(error);
  return outcome.kind === 'broken' && outcome.reason !== 'ServerUnavailable' ? refused(outcome.message) : undefined;
}

function ignoreAbsent(error: unknown): void {
  if (!isKubeError(error, 'not_found', 'conflict')) throw error;
}
