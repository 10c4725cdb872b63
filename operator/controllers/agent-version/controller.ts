import { flowLimits } from '#contracts/flow-limits';
import type { Logger } from '#kit/log/logger';
import type { Clock } from '#kit/time/clock';
import { applyDesired, applyStatus } from '#kube/apply/apply';
import type { KubeClient } from '#kube/client/client';
import type { EventRecorder } from '#kube/events/event-recorder';
import type { AgentVersion } from '#resources/agent-version';
import { kinds, operatorFinalizer } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import { agentWorkloadName, makeAgentBundle } from '../../agents/agent-bundle.ts';
import { checkImage } from '../../agents/check-image.ts';
import { manifestDifferences } from '../../agents/manifest-differences.ts';
import { missingConnections } from '../../agents/missing-connections.ts';
import type { AgentHost, AgentRequest } from '../../agents/ports.ts';
import type { VersionChecks, VersionOutcome } from '../../agents/version-checks.ts';
import type { Caches, Stores } from '../../caches/caches.ts';
import type { Environment } from '../../environment/read-environment-files.ts';
import { transitionEvents, type Watched } from '../../events/transition-events.ts';
import type { PassOutcome } from '../../reconcile/outcome.ts';
import { checksTimedOut } from './conditions.ts';
import { type AgentVersionResult, decideAgentVersion } from './decide.ts';
import { createLateChecks, latePauses } from './late-checks.ts';
import type { AgentVersionSnapshot } from './snapshot.ts';
import { makeAgentVersionStatus } from './status.ts';
import { usesOf } from './uses.ts';

const maxSteps = 8;
/** Delays until the next pass, milliseconds. */
const lookMs = { whileDraining: 1_000 } as const;
/** Pause of a version whose first check finds no free place, milliseconds. Meanwhile its pass takes no place of other versions. */
const placeMs = 500;

const watched: readonly Watched[] = [
  { type: 'Ready', status: 'False', as: { type: 'Warning', action: 'Serve' } },
  { type: 'Ready', status: 'True', as: { type: 'Normal', action: 'Serve' } },
];

type AgentVersionControllerOptions = {
  readonly client: KubeClient;
  readonly stores: Pick<Stores, 'agentVersions' | 'agentRoutes' | 'reports'>;
  readonly history: Pick<Caches, 'removalOfAgentRoute'>;
  readonly checks: VersionChecks;
  /** The host of agents; absent if the installation does not run agents. */
  readonly host: AgentHost | undefined;
  readonly environment: () => Pick<Environment, 'connections'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly events: Pick<EventRecorder, 'record'>;
};

type Issued = Required<Pick<AgentRequest, 'bundle' | 'modes'>> & { readonly workload: string };

/**
 * Checks each version, runs its tests, and keeps the process of a version that passed them running until the version is
 * deleted.
 */
export function createAgentVersionController(options: AgentVersionControllerOptions) {
  const { client, stores, history, checks, host, environment, clock, logger, events } = options;
  /** Verdicts by UID: the spec of a version never changes, and neither does its verdict. */
  const outcomes = new Map<string, VersionOutcome>();
  /** UIDs by name, so that the outcome of a deleted version is removed. */
  const known = new Map<string, string>();
  const late = createLateChecks(clock.now);

  async function reconcile(name: string, signal: AbortSignal): Promise<PassOutcome> {
    const found = stores.agentVersions.get(name);
    forgetOthers(name, found?.metadata.uid);
    if (found === undefined) return { kind: 'settled' };
    let resource = found;
    for (let step = 0; step < maxSteps; step++) {
      const { uid, finalizers = [] } = resource.metadata;
      const issued = issue(resource);
      const decided = decideAgentVersion(snapshotOf(resource, issued));
      switch (decided.kind) {
        case 'nothing':
          return { kind: 'settled' };
        case 'check': {
          const check = () => outcomeOf(resource, signal);
          const isLate = wasLate(resource);
          const outcome = await (isLate ? late.repeat(check) : check());
          if (outcome === undefined) return { kind: 'waiting', afterMs: isLate ? latePauses.busyMs : placeMs };
          outcomes.set(uid, outcome);
          if (outcome.kind === 'late') late.note(uid);
          else late.forget(uid);
          break;
        }
        case 'adopt':
          resource = await write(resource, [...finalizers, operatorFinalizer]);
          break;
        case 'run':
          if (issued === undefined) throw new TypeError('a version without a bundle was to run');
          host?.ensure({ name: issued.workload, resource: name, bundle: issued.bundle, modes: issued.modes });
          break;
        // The first observation is reported as a change. An unknown state does not replace a known state.
        case 'wait':
          return decided.afterMs === undefined ? { kind: 'settled' } : { kind: 'waiting', afterMs: decided.afterMs };
        case 'let_go':
          for (const workload of workloadsOf(resource, issued)) host?.remove(workload);
          logger.info('agent_version_ended', { name });
          await write(
            resource,
            finalizers.filter((one) => one !== operatorFinalizer),
          );
          return { kind: 'settled' };
        case 'settle':
          return settle(resource, issued, decided.result);
      }
    }
    throw new TypeError('the reconcile of an agent version exceeded its maximum number of steps');
  }

  async function outcomeOf(
    { spec, status }: Stored<AgentVersion>,
    signal: AbortSignal,
  ): Promise<VersionOutcome | undefined> {
    const hasRun = status?.workload !== undefined;
    return spec.lowCode === undefined ? checkImage(spec) : await checks.check({ ...spec.lowCode, hasRun }, signal);
  }

  /** Whether earlier checks of the version exceeded their timeout, including the checks of an earlier operator. */
  function wasLate({ metadata, status }: Stored<AgentVersion>): boolean {
    return late.has(metadata.uid) || status?.conditions?.some(({ reason }) => reason === checksTimedOut) === true;
  }

  /**
   * The verdict about the version; undefined if there is none, or if checks that exceeded their timeout are due again.
   */
  function verdictOf(uid: string): VersionOutcome | undefined {
    const outcome = outcomes.get(uid);
    return outcome?.kind === 'late' && late.pauseOf(uid) === 0 ? undefined : outcome;
  }

  /** The bundle of a version that was accepted. */
  function issue(resource: Stored<AgentVersion>): Issued | undefined {
    const outcome = outcomes.get(resource.metadata.uid);
    if (outcome?.kind !== 'loaded' || host === undefined) return undefined;
    const { publicUrl, build } = host;
    const bundle = makeAgentBundle(resource, outcome.published, { namespace: client.namespace, publicUrl });
    const { digest, workload } = resource.status ?? {};
    // After an upgrade, the operator starts no second process while a process of an earlier build runs.
    const keeps = workload !== undefined && digest === bundle.digest && host.runs(workload);
    const name = keeps ? workload : agentWorkloadName(bundle, build);
    return { bundle, workload: name, modes: outcome.published.modes };
  }

  function snapshotOf(
    { metadata, spec, status }: Stored<AgentVersion>,
    issued: Issued | undefined,
  ): AgentVersionSnapshot {
    const outcome = verdictOf(metadata.uid);
    const { deletionTimestamp } = metadata;
    const workload = issued?.workload ?? status?.workload;
    return {
      deleting: deletionTimestamp !== undefined,
      hasFinalizer: metadata.finalizers?.includes(operatorFinalizer) ?? false,
      ...usesOf({ stores, history }, { metadata, spec }),
      deletingMs: deletionTimestamp === undefined ? 0 : clock.date().getTime() - Date.parse(deletionTimestamp),
      drainMs: issued?.bundle.limits.timeoutMs ?? flowLimits.run.timeoutMs.max,
      isConfigured: host !== undefined,
      isForeignImage: spec.sdk !== undefined && host?.runsImages === false,
      outcome,
      differences: outcome?.kind === 'loaded' ? manifestDifferences(spec, outcome.published) : [],
      missing: issued === undefined ? [] : missingConnections(issued.bundle, spec.agent, environment().connections),
      isWanted: issued !== undefined && host?.has(issued.workload) === true,
      mayRun: workload !== undefined && host?.runs(workload) === true,
      observed: workload === undefined ? undefined : host?.observe(workload),
    };
  }

  function forgetOthers(name: string, uid: string | undefined): void {
    const before = known.get(name);
    if (before !== undefined && before !== uid) {
      outcomes.delete(before);
      late.forget(before);
    }
    if (uid === undefined) known.delete(name);
    else known.set(name, uid);
  }

  function write(resource: Stored<AgentVersion>, finalizers: readonly string[]): Promise<Stored<AgentVersion>> {
    return applyDesired(client, kinds.agentVersion, resource, { finalizers });
  }

  async function settle(
    resource: Stored<AgentVersion>,
    issued: Issued | undefined,
    result: AgentVersionResult,
  ): Promise<PassOutcome> {
    const runs =
      result.kind === 'running' || (result.kind === 'held' && issued !== undefined && host?.has(issued.workload));
    const status = makeAgentVersionStatus(resource, result, runs ? issued : undefined, clock.date());
    await applyStatus(client, kinds.agentVersion, resource, status);
    for (const note of transitionEvents(resource.status?.conditions, status.conditions, watched)) {
      events.record({ regarding: resource, ...note });
    }
    const { uid } = resource.metadata;
    const mustRun = result.kind === 'held' || result.kind === 'late';
    if (mustRun && outcomes.get(uid)?.kind === 'late') return { kind: 'waiting', afterMs: late.pauseOf(uid) };
    const isLeaving = result.kind === 'held' || result.kind === 'called' || result.kind === 'draining';
    return isLeaving ? { kind: 'waiting', afterMs: lookMs.whileDraining } : { kind: 'settled' };
  }

  return { reconcile };
}

/** The workload of this build, and the workload of an earlier build that the status names. */
function workloadsOf({ status }: Stored<AgentVersion>, issued: Issued | undefined): ReadonlySet<string> {
  return new Set([status?.workload, issued?.workload].filter((name) => name !== undefined));
}
