import type { KnownRevision } from './known-revision.ts';

/** Revisions by policy, newest first, and the callers that wait for a revision. */
export class RevisionIndex {
  readonly #byPolicy = new Map<string, KnownRevision[]>();
  #count = 0;
  #bytes = 0;
  readonly #waiting = new Map<string, Set<() => void>>();

  of(policyId: string): readonly KnownRevision[] {
    return this.#byPolicy.get(policyId) ?? [];
  }

  all(): readonly KnownRevision[] {
    return [...this.#byPolicy.values()].flat();
  }

  get stored(): { readonly revisions: number; readonly bytes: number } {
    return { revisions: this.#count, bytes: this.#bytes };
  }

  add(revision: KnownRevision): void {
    this.#count += 1;
    this.#bytes += revision.bytes;
    const list = this.#byPolicy.get(revision.policyId) ?? [];
    const at = list.findIndex((other) => other.number <= revision.number);
    list.splice(at < 0 ? list.length : at, 0, revision);
    this.#byPolicy.set(revision.policyId, list);
    for (const resolve of this.#waiting.get(revision.objectName) ?? []) resolve();
  }

  remove({ policyId, number, bytes }: KnownRevision): void {
    this.#count -= 1;
    this.#bytes -= bytes;
    const left = this.of(policyId).filter((other) => other.number !== number);
    if (left.length === 0) this.#byPolicy.delete(policyId);
    else this.#byPolicy.set(policyId, left);
  }

  async saw(policyId: string, number: number, ms: number): Promise<boolean> {
    const isKnown = (): boolean => this.of(policyId).some((revision) => revision.number === number);
    if (isKnown()) return true;
    const name = `${policyId}-${number}`;
    const arrival = Promise.withResolvers<void>();
    const waiting = this.#waiting.get(name) ?? new Set();
    this.#waiting.set(name, waiting.add(arrival.resolve));
    const timer = setTimeout(arrival.resolve, ms);
    await arrival.promise;
    clearTimeout(timer);
    waiting.delete(arrival.resolve);
    if (waiting.size === 0) this.#waiting.delete(name);
    return isKnown();
  }
}
