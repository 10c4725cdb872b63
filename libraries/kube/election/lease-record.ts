import type { Stored } from '#resources/metadata';
import { preconditionTests } from '../apply/apply.ts';
import { sameJson } from '../apply/same-json.ts';
import { builtinKinds } from '../client/builtin-kinds.ts';
import type { Lease } from '../client/builtin-types.ts';
import type { JsonPatchOperation } from '../client/json-patch.ts';
import { microTime } from '../client/micro-time.ts';
import { apiVersionOf } from '../client/resource-path.ts';

/** What a candidate writes into a lease. */
export type Claim = { readonly holder: string; readonly leaseMs: number; readonly at: Date };

/** The lease as the first candidate of a name creates it. */
export function newLease(name: string, claim: Claim): Lease {
  return {
    apiVersion: apiVersionOf(builtinKinds.lease),
    kind: builtinKinds.lease.kind,
    metadata: { name },
    spec: claimed({}, claim),
  };
}

/** Takes a lease that nobody holds any more; fails where somebody has written it since. */
export function acquireOperations(lease: Stored<Lease>, claim: Claim): readonly JsonPatchOperation[] {
  return [
    ...preconditionTests(lease, 'resourceVersion'),
    { op: 'add', path: '/spec', value: claimed(lease.spec ?? {}, claim) },
  ];
}

/** Prolongs a lease that is held; fails where somebody has written it since. */
export function renewOperations(lease: Stored<Lease>, at: Date): readonly JsonPatchOperation[] {
  return [...preconditionTests(lease, 'resourceVersion'), { op: 'add', path: '/spec/renewTime', value: microTime(at) }];
}

/** Gives a lease back, so that the next candidate need not wait. */
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

/** A lease as this process saw it, and when: its own times are those of another clock and mean nothing here. */
export type ObservedLease = {
  /** Absent: it was deleted, or never was there. */
  readonly lease: Stored<Lease> | undefined;
  /** When the record was first seen like this, on the monotonic clock. */
  readonly at: number;
  /** When whoever holds it has lost it, on the monotonic clock; -Infinity where nobody holds it. */
  readonly expiresAt: number;
};

/**
 * What is known after a look. Only a change of the record moves the expiry, so that a clock that differs, a repeated
 * look and an edit of labels prolong nothing. A lease that vanished is held until it would have expired.
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
