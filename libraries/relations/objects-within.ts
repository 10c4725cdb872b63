import type { ObjectWindow } from './ports.ts';

/** The part of all objects, which are sorted, that a window is about. */
export function objectsWithin(objects: readonly string[], { from = '', to, limit }: ObjectWindow): readonly string[] {
  return objects.filter((object) => object >= from && (to === undefined || object <= to)).slice(0, limit);
}
