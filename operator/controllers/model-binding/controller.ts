import { v7 as uuid } from 'uuid';
import type { Clock } from '#kit/time/clock';
import { applyDesired, applyStatus } from '#kube/apply/apply';
import { KubeError } from '#kube/client/client';
import type { EventRecorder } from '#kube/events/event-recorder';
import type { GatewayRoute } from '#resources/gateway-route';
import { idLabel, kinds, operatorFinalizer } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import { forgetCausesAnnotation } from '#resources/purged-revision';
import { createAwaitedWorkloads } from '../../acceptance/awaited-workloads.ts';
import { type LiveWorld, worldNow } from '../../acceptance/gather-views.ts';
import { createProviderAnswers } from '../../acceptance/provider-answers.ts';
import { type AcceptancePorts, runStep } from '../../acceptance/run-step.ts';
import type { AcceptanceStep } from '../../acceptance/snapshot.ts';
import { contentDigest } from '../../applications/application.ts';
import { noteOfOutcome } from '../../applications/note-of-outcome.ts';
import { isFinal } from '../../applications/outcome-history.ts';
import type { EventNote } from '../../events/transition-events.ts';
import { outcomeOfError, type PassOutcome } from '../../reconcile/outcome.ts';
import { createStopwatches } from '../../reconcile/stopwatches.ts';
import type { WorkloadClaims } from '../../workloads/workload-claims.ts';
import { gaveUp, wasGivenUp } from './application/decide-desired.ts';
import { decide } from './decide.ts';
import { createAliasLocks, writeRoute } from './route/write-route.ts';
import { gather, type Pass } from './snapshot/gather.ts';
import { desiredOf, type Snapshot } from './snapshot/snapshot.ts';
import type { PassResult, ReconcileStep, Settlement } from './snapshot/steps.ts';
import { bindingEvents } from './status/binding-events.ts';
import { aspectsOf } from './status/conditions.ts';
import { makeStatus } from './status/status.ts';

const maxSteps = 32;
/** Grace period before the condition reports WaitingForReplicas. */
const confirmationGraceMs = 5_000;

type BindingControllerOptions = {
  readonly ports: Omit<AcceptancePorts, 'awaited' | 'answers'> & { readonly events: Pick<EventRecorder, 'record'> };
  readonly world: LiveWorld;
  readonly claims: WorkloadClaims;
  readonly clock: Clock;
  readonly progressDeadlineMs: number;
  readonly maxStreamMs: number;
  /** Called with workloads that a binding has stopped waiting for. */
  readonly onReleased: (workloads: readonly string[]) => void;
  /** Called with bindings that should call a provider again, or whose provider answers again. */
  readonly onAnswers: (bindings: readonly string[]) => void;
};

type Progress =
  | { readonly kind: 'pass'; readonly pass: Pass }
  | { readonly kind: 'end'; readonly outcome: PassOutcome };

/** Reconciles a binding until every ready replica confirmed its route (docs/design/applications-and-routes.md). */
export function createBindingController(options: BindingControllerOptions) {
  const { ports, world, clock } = options;
  const { client, logger } = ports;
  const aliases = createAliasLocks();
  const watches = createStopwatches(clock);
  /** For each generation, how long it has waited for the confirmation of the replicas. */
  const confirmations = createStopwatches(clock);
  const awaited = createAwaitedWorkloads(options.onReleased);
  const answers = createProviderAnswers(clock, options.onAnswers);

  async function reconcile(name: string, signal: AbortSignal): Promise<PassOutcome> {
    const binding = world.stores.bindings.get(name);
    if (binding === undefined) {
      awaited.forget(name);
      answers.forget(name);
      return { kind: 'settled' };
    }
    let pass: Pass = {
      world: worldNow(world),
      binding,
      route: world.stores.routes.get(name),
      facts: { desired: {}, pinned: {} },
      workloads: {},
    };
    for (let step = 0; step < maxSteps; step++) {
      const gathered = gather(pass);
      const s = { ...gathered, ...timesOf(pass, gathered) };
      const todo = decide(s);
      const next = await advance(pass, s, todo, signal).catch((error: unknown) => report(pass, s, todo, error));
      if (next.kind === 'end') {
        if (!hasWorkload(pass)) awaited.forget(name);
        return next.outcome;
      }
      pass = next.pass;
    }
    throw new TypeError('the reconcile of a binding exceeded its maximum number of steps');
  }

  function timesOf(pass: Pass, s: ReturnType<typeof gather>): Pick<Snapshot, 'overdue' | 'departureOverdue'> {
    const { uid, deletionTimestamp } = pass.binding.metadata;
    if (deletionTimestamp !== undefined) {
      const since = pass.route === undefined ? watches.elapsed(uid, 'leaving') : 0;
      return { overdue: false, departureOverdue: since >= options.maxStreamMs };
    }
    const application = desiredOf(s);
    const key = `${application.token} ${contentDigest(application.content)}`;
    return { overdue: watches.elapsed(uid, key) >= options.progressDeadlineMs, departureOverdue: false };
  }

  async function advance(pass: Pass, s: Snapshot, step: ReconcileStep, signal: AbortSignal): Promise<Progress> {
    switch (step.kind) {
      case 'nothing':
        return end({ kind: 'settled' });
      case 'adopt':
        return go({ ...pass, binding: await adopt(pass.binding) });
      case 'delete_route':
        return go(await deleteRoute(pass, s, step.why));
      case 'release':
        await release(pass.binding);
        return end({ kind: 'settled' });
      case 'write_route': {
        const route = await writeRoute({ client, aliases, claims: options.claims }, pass, s, step, signal);
        const { generationId, workload } = route.spec;
        logger.info('route_written', { binding: route.metadata.name, why: step.why, generationId, workload });
        if (step.why === 'run_again') {
          const before = s.route?.spec.workload;
          logger.warn('application_run_again', { binding: route.metadata.name, build: world.build, before, workload });
        }
        if (step.why === 'restore') {
          logger.warn('route_restored', { binding: route.metadata.name, generationId, workload });
          tell(pass.binding, driftCorrected('restored'));
        }
        if (step.why === 'roll_back') tell(pass.binding, rolledBack(route));
        return go({ ...pass, route });
      }
      case 'settle':
        return end(await settle(pass, s, step.settlement));
      case 'read_revision':
      case 'build_bundle':
      case 'judge':
      case 'ensure_workload':
      case 'run_tests':
      case 'ask_providers':
        return go({ ...pass, ...(await tryOut(pass, step, signal)) });
    }
  }

  async function tryOut(
    pass: Pass,
    step: AcceptanceStep,
    signal: AbortSignal,
  ): Promise<Pick<Pass, 'facts' | 'workloads'>> {
    const { metadata, spec } = pass.binding;
    const { facts, workloads } = pass;
    const subject = {
      name: metadata.name,
      uid: metadata.uid,
      token: spec.apply ?? '',
      replicas: spec.replicas,
      isServed: false,
    };
    const acceptance = { subject, facts, workloads };
    const found = await runStep({ ...ports, awaited, answers }, pass.world, acceptance, step, signal);
    return { facts: found.facts, workloads: found.workloads };
  }

  function adopt(binding: Stored<ModelBinding>): Promise<Stored<ModelBinding>> {
    const { labels, finalizers = [] } = binding.metadata;
    return applyDesired(client, kinds.modelBinding, binding, {
      labels: { [idLabel]: labels?.[idLabel] ?? uuid() },
      finalizers: finalizers.includes(operatorFinalizer) ? finalizers : [...finalizers, operatorFinalizer],
    });
  }

  /** Records the pinned application before the route is deleted, because replicas that still use it are awaited. */
  async function deleteRoute(pass: Pass, s: Snapshot, why: 'leaving' | 'foreign' | 'tampered'): Promise<Pass> {
    const { route } = pass;
    if (route === undefined) return pass;
    let { binding } = pass;
    if (why === 'leaving') {
      const settlement = { result: { kind: 'leaving', message: 'the route is being deleted' } } as const;
      binding = await writeStatus(pass, s, settlement);
    }
    const { name, uid, resourceVersion } = route.metadata;
    await client.delete(kinds.gatewayRoute, name, { uid, resourceVersion });
    logger.info('route_deleted', { binding: name, why });
    if (why === 'tampered') tell(binding, driftCorrected('deleted'));
    return { ...pass, binding, route: undefined };
  }

  async function release(binding: Stored<ModelBinding>): Promise<void> {
    const { name, uid, finalizers = [] } = binding.metadata;
    const route = await client.get<GatewayRoute>(kinds.gatewayRoute, name);
    if (route !== undefined) throw new KubeError('conflict', 'the binding has a route again');
    await applyDesired(client, kinds.modelBinding, binding, {
      finalizers: finalizers.filter((finalizer) => finalizer !== operatorFinalizer),
    });
    watches.forget(uid);
    confirmations.forget(uid);
  }

  async function writeStatus(pass: Pass, s: Snapshot, decided: Settlement): Promise<Stored<ModelBinding>> {
    const { outcome } = decided;
    const noted = outcome === undefined ? {} : { outcome: { ...outcome, ...noteOfOutcome(outcome, pass.binding) } };
    const settlement = { ...decided, ...noted };
    const status = makeStatus(s, settlement, aspectsOf(s, settlement), clock.date());
    const written = await applyStatus(client, kinds.modelBinding, pass.binding, status);
    for (const note of bindingEvents(pass.binding.status, status, settlement)) tell(written, note);
    const isForgotten = written.metadata.annotations?.[forgetCausesAnnotation] === undefined;
    if (isForgotten || s.binding.deleting) return written;
    return applyDesired(client, kinds.modelBinding, written, { annotations: { [forgetCausesAnnotation]: null } });
  }

  function tell(regarding: Stored<ModelBinding>, note: EventNote): void {
    ports.events.record({ regarding, ...note });
  }

  async function settle(pass: Pass, s: Snapshot, settlement: Settlement): Promise<PassOutcome> {
    const restMs = restOfGracePeriod(s, settlement);
    if (restMs > 0) return { kind: 'waiting', afterMs: restMs };
    await writeStatus(pass, s, settlement);
    const { outcome, result } = settlement;
    const { name, uid } = pass.binding.metadata;
    if (outcome !== undefined) {
      const { outcome: result, reason, generationId } = outcome;
      logger.info('application_ended', { binding: name, outcome: result, reason, generationId });
    }
    if (isOver(result)) {
      watches.forget(uid);
      confirmations.forget(uid);
    }
    if (isOver(result) && !mayGoOn(result)) answers.forget(name);
    if (result.kind === 'failed' && result.reason === 'provider_unavailable') {
      const afterMs = answers.retryAfterMs(name);
      return afterMs === undefined ? { kind: 'settled' } : { kind: 'waiting', afterMs };
    }
    answers.stopWaiting(name);
    if (settlement.deadline !== true) return { kind: 'settled' };
    const limit = s.binding.deleting ? options.maxStreamMs : options.progressDeadlineMs;
    return { kind: 'waiting', afterMs: Math.max(1, limit - watches.current(uid)) };
  }

  /** The remaining grace period in milliseconds; 0 if the status must be written now. */
  function restOfGracePeriod(s: Snapshot, { result, outcome }: Settlement): number {
    if (result.kind !== 'confirming' || outcome !== undefined || s.route === undefined || s.overdue) return 0;
    const said = s.conditions.find((condition) => condition.type === 'Applied');
    if (said?.status !== 'Unknown' || said.observedGeneration !== s.binding.generation) return 0;
    const rest = confirmationGraceMs - confirmations.elapsed(s.binding.uid, s.route.spec.generationId);
    return Math.max(0, Math.min(rest, options.progressDeadlineMs - watches.current(s.binding.uid)));
  }

  /** A technical fault is reported in the conditions if they can be written; the queue retries. */
  async function report(pass: Pass, s: Snapshot, step: ReconcileStep, error: unknown): Promise<never> {
    const outcome = outcomeOfError(error);
    if (outcome.kind === 'raced' || outcome.reason === 'ServerUnavailable' || s.binding.deleting) throw error;
    const { reason, message } = outcome;
    if ((s.overdue || wasGivenUp(s)) && 'target' in step && step.target === 'desired') {
      await settle(pass, s, gaveUp(s, message));
    } else {
      await writeStatus(pass, s, { result: { kind: 'blocked', reason, message } }).catch(() => undefined);
    }
    throw error;
  }

  return {
    reconcile,
    /** Bindings that wait for a workload. */
    waitingFor: awaited.bindingsOf,
  };
}

function rolledBack({ spec }: GatewayRoute): EventNote {
  const note = `${spec.refused?.message ?? 'a gateway replica rejects the route'}; rolled back to the previous application`;
  return { type: 'Warning', reason: 'RolledBack', action: 'RollBack', note };
}

function driftCorrected(how: 'restored' | 'deleted'): EventNote {
  const note = `the route was changed by another client than the operator; the operator ${how} it`;
  return { type: 'Warning', reason: 'DriftCorrected', action: 'Apply', note };
}

function hasWorkload({ facts }: Pass): boolean {
  return facts.desired.workload !== undefined || facts.pinned.workload !== undefined;
}

function isOver(result: PassResult): boolean {
  switch (result.kind) {
    case 'applied':
    case 'failed':
    case 'not_accepted':
      return true;
    case 'unresolved':
    case 'starting':
    case 'blocked':
    case 'confirming':
    case 'leaving':
      return false;
  }
}

/** Whether the application failed because a dependency is missing; it is retried when the dependency appears. */
function mayGoOn(result: PassResult): boolean {
  return result.kind === 'failed' && !isFinal(result);
}

function go(pass: Pass): Progress {
  return { kind: 'pass', pass };
}

function end(outcome: PassOutcome): Progress {
  return { kind: 'end', outcome };
}
