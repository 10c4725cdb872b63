import type { Rung } from './measure-http.ts';

/** The additional work of each kind of request compared with the previous kind, in the order of a hybrid query. */
const ladder = [
  { what: 'bare route with one select (remote vectors)', hop: 'HTTP and one select' },
  { what: 'read of the collection', hop: 'caller and rights' },
  { what: 'query by terms', hop: 'index of terms, decision and citations' },
  { what: 'hybrid query without the embedding call', hop: 'index of vectors' },
  { what: 'hybrid query with the embedding call', hop: 'call for the embedding' },
] as const;

type Hop = { readonly hop: string; readonly ms: number };

/**
 * The steps of a hybrid query with this number of callers: the median time of each kind of request minus that of the
 * previous kind. A step that costs less than the noise of the machine can be below zero. The sum of all steps is the
 * median of the last kind.
 * @throws Error if a kind was not measured
 */
export function listHops(rungs: readonly Rung[], callers: number): readonly Hop[] {
  const medians = ladder.map(({ what }) => {
    const rung = rungs.find((one) => one.what === what && one.callers === callers);
    if (rung === undefined) throw new Error(`${what} was not measured with ${callers} callers`);
    return rung.times.p50;
  });
  return ladder.map(({ hop }, at) => ({ hop, ms: (medians[at] ?? 0) - (at === 0 ? 0 : (medians[at - 1] ?? 0)) }));
}
