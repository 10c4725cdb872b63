import { contextHeaders } from '#contracts/profiles';
import { sameJson } from '#kube/apply/same-json';
import type { GatewayRouteSpec, GuardedRoute } from '#resources/gateway-route';
import type { ModelBindingStatus } from '#resources/model-binding';
import {
  type Application,
  isOutcomeOf,
  mayBeSame,
  pinnedApplication,
  sameContent,
} from '../../../applications/application.ts';
import { desiredOf, type RouteView, type Snapshot } from '../snapshot/snapshot.ts';

type PinnedRecord = NonNullable<ModelBindingStatus['pinned']>;

/** The part of a route that the status records, so that a changed or deleted route can be restored. */
export function pinnedRecord({
  generationId,
  token,
  contentProfile,
  workload,
  guardrail,
}: GatewayRouteSpec): PinnedRecord {
  const application = { generationId, token, contentProfile };
  if (guardrail.mode === 'None') return application;
  const { policyId, policyRevision, digest, maxBodyBytes, maxMessages, deadlineMs } = guardrail;
  const { streaming, division, refusalText } = guardrail;
  return {
    ...application,
    policyId,
    policyRevision: Number(policyRevision),
    digest,
    ...(workload === undefined ? {} : { workload }),
    checks: {
      maxBodyBytes,
      maxMessages,
      requestDeadlineMs: deadlineMs.request,
      responseDeadlineMs: deadlineMs.response,
      ...(refusalText === undefined ? {} : { refusalText }),
      ...(streaming.allowed ? {} : { streamingRefusedBy: streaming.rule }),
      ...(division === undefined ? {} : { division }),
    },
  };
}

/** The application that the status records as pinned; undefined if it was unguarded or the record is incomplete. */
export function guardedPin(record: PinnedRecord | undefined): Application | undefined {
  const { policyId, policyRevision, contentProfile, token } = record ?? {};
  if (policyId === undefined || policyRevision === undefined || contentProfile === undefined) return undefined;
  return {
    token: token ?? '',
    content: { mode: 'Policy', policyId, policyRevision: String(policyRevision), contentProfile },
  };
}

/** The guard that the status records as pinned; undefined if the record is incomplete. */
export function pinnedGuard(record: PinnedRecord, addresses: readonly string[]): GuardedRoute | undefined {
  const { policyId, policyRevision, contentProfile, digest, checks } = record;
  if (policyId === undefined || policyRevision === undefined || contentProfile === undefined) return undefined;
  if (digest === undefined || checks === undefined || addresses.length === 0) return undefined;
  const { streamingRefusedBy, division, refusalText } = checks;
  return {
    mode: 'Policy',
    policyId,
    policyRevision: String(policyRevision),
    digest,
    addresses: [...addresses],
    headers: {
      [contextHeaders.policyId]: policyId,
      [contextHeaders.policyRevision]: String(policyRevision),
      [contextHeaders.bundleDigest]: digest,
      [contextHeaders.contentProfile]: contentProfile,
    },
    maxBodyBytes: checks.maxBodyBytes,
    maxMessages: checks.maxMessages,
    deadlineMs: { request: checks.requestDeadlineMs, response: checks.responseDeadlineMs },
    ...(refusalText === undefined ? {} : { refusalText }),
    streaming: streamingRefusedBy === undefined ? { allowed: true } : { allowed: false, rule: streamingRefusedBy },
    ...(division === undefined ? {} : { division }),
  };
}

/**
 * Whether the route matches the records of the binding. A route of the recorded generation must equal the record. A
 * route of another generation was written by the operator just before it stopped, or by another writer: it must pin the
 * application that the binding requests or that was already confirmed; an unguarded route must pin the application that
 * the binding requests now.
 */
export function isAccountedFor(s: Snapshot, route: RouteView): boolean {
  const { spec } = route;
  const record = s.pinned?.record;
  if (record?.generationId === spec.generationId) return matchesRecord(spec, record);
  const pinned = pinnedApplication(spec);
  if (pinned.content.mode === 'None') return s.binding.spec.guardrail.mode === 'None';
  const before = guardedPin(record);
  return (
    mayBeSame(desiredOf(s), pinned) ||
    (before !== undefined && sameContent(before.content, pinned.content)) ||
    s.history.some((entry) => entry.outcome === 'Applied' && isOutcomeOf(entry, pinned)) ||
    s.starting?.name === spec.workload
  );
}

/** Members that an earlier version did not record are not compared. */
function matchesRecord(spec: GatewayRouteSpec, record: PinnedRecord): boolean {
  const found: Readonly<Record<string, unknown>> = pinnedRecord(spec);
  if (record.policyId === undefined) return spec.guardrail.mode === 'None';
  const { checks, ...members } = record;
  const isSame = Object.entries(members).every(([name, value]) => found[name] === value);
  return isSame && (checks === undefined || hasSameGuard(spec, record));
}

/**
 * Compares the guardrails without their addresses: the addresses follow the workload and are compared with those of the
 * workload.
 */
function hasSameGuard({ guardrail }: GatewayRouteSpec, record: PinnedRecord): boolean {
  return guardrail.mode === 'Policy' && sameJson(guardrail, pinnedGuard(record, guardrail.addresses));
}
