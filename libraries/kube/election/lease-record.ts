import type { Stored } from '#resources/metadata';
import { preconditionTests } from '../apply/apply.ts';
import { sameJson } from '../apply/same-json.ts';
import { builtinKinds } from '../client/builtin-kinds.ts';
import type { Lease } from '../client/builtin-types.ts';
import type { JsonPatchOperation } from '../client/json-patch.ts';
import { microTime } from '../client/micro-time.ts';
import { apiVersionOf } from '../client/resource-path.ts';

/** The values that a candidate writes when it acquires a lease. */
type Claim = { readonly holder: string; readonly leaseMs: number; readonly at: Date };

/** The lease that the first candidate creates. */
export function newLease(name: string, claim: Claim): Lease {
  return {
    apiVersion: apiVersionOf(builtinKinds.lease),
    kind: builtinKinds.lease.kind,
    metadata: { name },
    spec: claimed({}, claim),
  };
}

/** Acquires a lease that is released or expired; fails when the lease was written since it was read. */
export function acquireOperations(lease: Stored<Lease>, claim: Claim): readonly JsonPatchOperation[] {
  return [
    ...preconditionTests(lease, 'resourceVersion'),
    { op: 'add', path: '/spec', value: claimed(lease.spec ?? {}, claim) },
  ];
}

/** Renews a held lease; fails when the lease was written since it was read. */
export function renewOperations(lease: Stored<Lease>, at: Date): readonly JsonPatchOperation[] {
  return [...preconditionTests(lease, 'resourceVersion'), { op: 'add', path: '/spec/renewTime', value: microTime(at) }];
}

/** Releases a lease, so that the next candidate can acquire it immediately. */
export function releaseOperations(lease: Stored<Lease>, at: Date): readonly JsonPatchOperation[] {
  const spec = { ...lease.spec, holderIdentity: '', leaseDurationSeconds: 1, renewTime: microTime(at) };
  return [...preconditionTests(lease, 'resourceVersion'), { op: 'add', path: '/spec', value: spec }];
}

function claimed(spec: Lease['spec'], { holder, leaseMs, at }: Claim): Lease['spec'] {
  const time = microTime(at);
  const transitions = spec.leaseTransitions === undefined ? 0 : spec.leaseTransitions + 1;
  return {
    ...spec,
    holderIdentity: holder,
    leaseDurationSeconds: Math.ceil(leaseMs / 1_000),
    acquireTime: time,
    renewTime: time,
    leaseTransitions: transitions,
  };
}

/** A lease as this process observed it. The times in the lease come from the holder's clock and are not used. */
export type ObservedLease = {
  /** The lease; undefined if it was deleted or never existed. */
  readonly lease: Stored<Lease> | undefined;
  /** The time at which this content of the lease was first observed, on the monotonic clock. */
  readonly at: number;
  /** The time at which the lease expires, on the monotonic clock; -Infinity if it is released. */
  readonly expiresAt: number;
};

/**
 * Updates the observation with the lease that was just read. Only a change of the spec extends the expiry: clock skew,
 * a repeated read and an edit of labels do not. A deleted lease counts as held until it would have expired.
 */
export function observe(
  before: ObservedLease | undefined,
  lease: Stored<Lease> | undefined,
  now: number,
  leaseMs: number,
): ObservedLease {
  if (lease === undefined) {
    return { lease, at: before?.at ?? now, expiresAt: before?.expiresAt ?? Number.NEGATIVE_INFINITY };
  }
  const isSame = before?.lease?.metadata.uid === lease.metadata.uid && sameJson(before.lease.spec, lease.spec);
  if (before !== undefined && isSame) return { ...before, lease };
  const seconds = lease.spec?.leaseDurationSeconds;
  const durationMs = seconds === undefined || seconds < 1 ? leaseMs : seconds * 1_000;
  const isHeld = (lease.spec?.holderIdentity ?? '') !== '';
  return { lease, at: now, expiresAt: isHeld ? now + durationMs : Number.NEGATIVE_INFINITY };
}
