import type { Turns } from '#kit/concurrency/turns';
import { BestRows } from '../../best-rows.ts';
import type { PartitionRows, VisibleRows } from './partition-rows.ts';
import { mostRows, type VectorMemory } from './vector-memory.ts';

type RankedRow = { readonly row: number; readonly score: number };

/**
 * The visible rows whose vectors have the largest dot products with the query's, best first; exact, because every
 * vector is read.
 */
export async function rankByVector(
  partition: PartitionRows,
  visible: VisibleRows,
  query: { readonly vector: Float32Array; readonly window: number },
  { vectors, turns }: { readonly vectors: VectorMemory; readonly turns: Turns },
): Promise<readonly RankedRow[]> {
  if (partition.dimensions === 0) return [];
  if (query.vector.length !== partition.dimensions) {
    throw new Error(`a query has ${query.vector.length} dimensions, not ${partition.dimensions}`);
  }
  const best = new BestRows(query.window, (row, other) => (partition.ids[row] ?? '') < (partition.ids[other] ?? ''));
  const rows = new Uint32Array(mostRows);
  const addresses = new Uint32Array(mostRows);
  let gathered = 0;
  const scan = (): void => {
    const products = vectors.dotProducts(query.vector, addresses, gathered);
    for (let at = 0; at < gathered; at += 1) best.offer(rows[at] as number, products[at] as number);
    gathered = 0;
  };
  const size = visible.flags.length;
  for (let row = 0; row < size; row += 1) {
    if (visible.flags[row] === 0) continue;
    const address = partition.vectorAddress(row);
    if (address === undefined) continue;
    rows[gathered] = row;
    addresses[gathered] = address;
    gathered += 1;
    if (gathered < mostRows) continue;
    scan();
    if (turns.isOver()) await turns.next();
  }
  scan();
  return best.sorted();
}
