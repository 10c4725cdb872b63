import type { Clock } from '#kit/time/clock';
import { KubeError } from '#kube/client/client';
import type { EventRecorder } from '#kube/events/event-recorder';
import { kinds } from '#resources/kinds';
import type { RuntimeWorkload } from '#resources/runtime-workload';
import { createAwaitedWorkloads } from '../../acceptance/awaited-workloads.ts';
import {
  type BindingWorld,
  type LiveWorld,
  policyNamed,
  workloadView,
  worldNow,
} from '../../acceptance/gather-views.ts';
import { createProviderAnswers } from '../../acceptance/provider-answers.ts';
import { type AcceptancePorts, type AcceptanceState, runStep } from '../../acceptance/run-step.ts';
import { contentDigest } from '../../applications/application.ts';
import type { ServedPolicy } from '../../environment/served-policies.ts';
import type { PassOutcome } from '../../reconcile/outcome.ts';
import { createStopwatches } from '../../reconcile/stopwatches.ts';
import type { ServedPin, ServedPolicies } from '../../served/ports.ts';
import type { createServedFailures } from '../../served/served-failures.ts';
import { versionsNaming } from '../../served/unlisted-policies.ts';
import { keepWorkload } from '../../workloads/prepare-workload.ts';
import type { WorkloadClaims } from '../../workloads/workload-claims.ts';
import { decideServed, type ServedResult, type ServedSnapshot, servedApplication } from './decide.ts';

const maxSteps = 16;

type ServedControllerOptions = {
  readonly ports: Omit<AcceptancePorts, 'awaited' | 'answers'> & { readonly events: Pick<EventRecorder, 'record'> };
  readonly world: LiveWorld;
  readonly served: ServedPolicies;
  /** Receives each entry that failed, and each entry that ended, for the status of the policy. */
  readonly notServed: Pick<ReturnType<typeof createServedFailures>, 'set' | 'clear'>;
  readonly claims: WorkloadClaims;
  readonly clock: Clock;
  readonly maxStreamMs: number;
  /** Called with workloads that an entry has stopped waiting for. */
  readonly onReleased: (workloads: readonly string[]) => void;
  /** Called with entries that should call a provider again, or whose provider answers again. */
  readonly onAnswers: (entries: readonly string[]) => void;
};

/** A served policy is called directly and guards no model. */
const noUpstream = { kind: 'approved', provider: '', endpoint: '', credential: undefined, enabled: true } as const;

/** Reconciles the address of a policy that is served directly, so that it resolves to the processes of its revision. */
export function createServedController(options: ServedControllerOptions) {
  const { ports, world, served, claims, clock, maxStreamMs } = options;
  const { client, logger } = ports;
  const awaited = createAwaitedWorkloads(options.onReleased);
  const answers = createProviderAnswers(clock, options.onAnswers);
  const watches = createStopwatches(clock);
  /** For each entry, the message about a provider that does not answer; an equal message is not written twice. */
  const retried = new Map<string, string>();
  /** For each entry of the served policies, the application that failed, and the reason. */
  const failures = new Map<string, { readonly application: string; readonly message: string }>();
  /** Entries that are served although they are not listed; the log and an event report them. */
  const unlisted = new Set<string>();

  async function reconcile(name: string, signal: AbortSignal): Promise<PassOutcome> {
    const entry = served.entries.find((one) => one.name === name);
    let acceptance: AcceptanceState = {
      subject: { name, uid: name, token: entry?.apply ?? '', replicas: entry?.replicas ?? 1, isServed: true },
      facts: { desired: {}, pinned: {} },
      workloads: {},
    };
    const now = worldNow(world);
    for (let step = 0; step < maxSteps; step++) {
      const s = gather(name, entry, acceptance, now);
      const decided = decideServed(s);
      switch (decided.kind) {
        case 'withdraw':
          await withdraw(name);
          return { kind: 'settled' };
        case 'try':
          acceptance = await runStep({ ...ports, awaited, answers }, now, acceptance, decided.step, signal);
          break;
        case 'move':
          await move(name, decided.pin, s.pin, acceptance.subject.replicas);
          return settle(name, s, decided.pin, { kind: 'served' });
        case 'settle':
          if (decided.pin !== undefined) await served.point(name, decided.pin, s.pin);
          return settle(name, s, decided.pin, decided.result);
      }
    }
    throw new TypeError('the reconcile of a served policy exceeded its maximum number of steps');
  }

  function gather(
    name: string,
    entry: ServedPolicy | undefined,
    acceptance: AcceptanceState,
    { limits }: Pick<BindingWorld, 'limits'>,
  ): ServedSnapshot {
    const pin = served.pins().get(name);
    const policy = policyNamed(world.stores, entry?.policyRef.name);
    const application = entry === undefined ? '' : applicationKey(entry, { policy });
    const failure = failures.get(name);
    const { canRun, stores } = world;
    return {
      entry,
      versions: entry === undefined ? versionsNaming(world.stores.agentVersions, name) : [],
      pin,
      pinned: pin === undefined ? undefined : workloadView(canRun, pin.workload, stores.workloads.get(pin.workload)),
      drained: (pin?.previous ?? []).filter((one) => watches.elapsed(`${name} ${one}`, 'previous') >= maxStreamMs),
      failure: failure?.application === application ? failure.message : undefined,
      policy,
      upstream: noUpstream,
      route: undefined,
      limits,
      facts: acceptance.facts,
    };
  }

  /** Reads the workload live before the address moves, so that a resumed process cannot act on stale state. */
  async function move(name: string, pin: ServedPin, seen: ServedPin | undefined, replicas: number): Promise<void> {
    using _claim = claims.claim(pin.workload);
    const pinned = await client.get<RuntimeWorkload>(kinds.runtimeWorkload, pin.workload);
    if (pinned === undefined) throw new KubeError('conflict', 'the workload no longer exists');
    await keepWorkload(client, pinned, replicas);
    if (!(await served.point(name, pin, seen))) return;
    const { workload, policyId, policyRevision } = pin;
    logger.info('served_policy_moved', { served: name, workload, policyId, policyRevision });
    tell(
      name,
      'Normal',
      'ServedPolicyMoved',
      `The address of the served policy ${name} resolves to revision ${policyRevision}.`,
    );
  }

  async function withdraw(name: string): Promise<void> {
    awaited.forget(name);
    answers.forget(name);
    failures.delete(name);
    options.notServed.clear(name);
    unlisted.delete(name);
    await served.withdraw(name);
  }

  function settle(name: string, s: ServedSnapshot, pin: ServedPin | undefined, result: ServedResult): PassOutcome {
    const { entry } = s;
    const isRetried = result.kind === 'failed' && result.isRetried === true;
    if (result.kind !== 'waiting') awaited.forget(name);
    if (result.kind !== 'waiting' && !isRetried) answers.forget(name);
    if (!isRetried) answers.stopWaiting(name);
    const isNew = result.kind === 'failed' && s.failure === undefined && retried.get(name) !== result.message;
    if (isRetried) retried.set(name, result.message);
    else retried.delete(name);
    if (result.kind === 'failed' && isNew && entry !== undefined) {
      if (!isRetried) failures.set(name, { application: applicationKey(entry, s), message: result.message });
      logger.warn('served_policy_failed', { served: name, reason: result.message });
      tell(name, 'Warning', 'ServedPolicyFailed', `The served policy ${name}: ${result.message}`);
    }
    if (result.kind === 'failed' && entry !== undefined) {
      options.notServed.set({
        name,
        policy: entry.policyRef.name,
        message: notServedMessage(entry, pin, result.message),
      });
    } else options.notServed.clear(name);
    if (result.kind === 'unlisted') noteUnlisted(name, s.pin, result.versions);
    else unlisted.delete(name);
    for (const one of s.pin?.previous ?? []) if (pin?.previous.includes(one) !== true) watches.forget(`${name} ${one}`);
    const drains = (pin?.previous ?? []).map((one) => maxStreamMs - watches.elapsed(`${name} ${one}`, 'previous'));
    const left = [...drains, (isRetried ? answers.retryAfterMs(name) : undefined) ?? []].flat();
    return left.length === 0 ? { kind: 'settled' } : { kind: 'waiting', afterMs: Math.max(1, Math.min(...left)) };
  }

  /** Writes a log line and an event, once for each entry that is served without being listed. */
  function noteUnlisted(name: string, pin: ServedPin | undefined, versions: readonly string[]): void {
    if (unlisted.has(name)) return;
    unlisted.add(name);
    logger.warn('served_policy_unlisted', { served: name, versions: versions.length });
    const [regarding] = pin === undefined ? [] : world.stores.policies.by('id', pin.policyId);
    if (regarding === undefined) return;
    const note = `The served policy ${name} is no longer listed. It remains served for versions of agents that name it.`;
    ports.events.record({ regarding, type: 'Warning', reason: 'ServedPolicyUnlisted', action: 'Serve', note });
  }

  /** An entry is not an object, so events are recorded for its policy. */
  function tell(name: string, type: 'Normal' | 'Warning', reason: string, note: string): void {
    const entry = served.entries.find((one) => one.name === name);
    const regarding = entry === undefined ? undefined : world.stores.policies.get(entry.policyRef.name);
    if (regarding !== undefined) ports.events.record({ regarding, type, reason, action: 'Serve', note });
  }

  return {
    reconcile,
    /** Names of served policies that wait until their workload is ready. */
    waitingFor: awaited.bindingsOf,
  };
}

function applicationKey(entry: ServedPolicy, s: Pick<ServedSnapshot, 'policy'>): string {
  const { token, content } = servedApplication(entry, s);
  return `${token} ${contentDigest(content)}`;
}

function notServedMessage({ name, policyRef }: ServedPolicy, pin: ServedPin | undefined, reason: string): string {
  const now =
    pin === undefined ? 'Nothing is served under this name' : `The address keeps revision ${pin.policyRevision}`;
  return `The served policy ${name} does not serve revision ${policyRef.revision}: ${reason.replace(/\.$/, '')}. ${now}.`;
}
