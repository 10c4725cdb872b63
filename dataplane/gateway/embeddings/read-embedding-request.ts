import { type JsonNode, member } from '#kit/json/parse-tree';
import type { CheckUnit } from '../chat/check-unit.ts';
import { embeddingKeys, findForeignKey } from '../chat/known-keys.ts';
import { accept, type ParseResult, refuse } from '../chat/parse-result.ts';

/** Most strings of one embeddings request; the limit of the API. */
export const maxEmbeddingInputs = 2_048;

const role = 'user';

/**
 * The strings of a guarded embeddings request as check messages, in their order. Arrays of tokens are refused, because
 * their text cannot be judged.
 */
export function readEmbeddingRequest(
  root: JsonNode,
  extraKeys: ReadonlySet<string>,
): ParseResult<readonly CheckUnit[]> {
  if (root.kind !== 'object') return refuse('invalid_request', null);
  const foreign = findForeignKey(root, embeddingKeys, extraKeys, '');
  if (foreign !== undefined) return { ok: false, refusal: foreign };
  const input = member(root, 'input');
  if (input?.kind === 'string') return accept([unitOf(input)]);
  if (input?.kind !== 'array' || input.items.length === 0) return refuse('invalid_request', 'input');
  if (input.items.length > maxEmbeddingInputs) return refuse('invalid_request', 'input');
  const units: CheckUnit[] = [];
  for (const item of input.items) {
    if (item.kind !== 'string') return refuse('unsupported_value', 'input');
    units.push(unitOf(item));
  }
  return accept(units);
}

/**
 * Splits the inputs of an embeddings request into checks within the limits. Inputs are judged independently, so they
 * may go into several checks. An input that exceeds the limit of a check gets a check of its own, which the runtime
 * refuses.
 */
export function batchUnits(
  units: readonly CheckUnit[],
  limits: { readonly maxMessages: number; readonly maxBodyBytes: number },
): readonly (readonly CheckUnit[])[] {
  const batches: CheckUnit[][] = [];
  let bytes = 0;
  for (const unit of units) {
    const size = Buffer.byteLength(JSON.stringify({ role: unit.role, content: unit.content })) + 1;
    const last = batches.at(-1);
    if (last === undefined || last.length >= limits.maxMessages || bytes + size > limits.maxBodyBytes) {
      batches.push([unit]);
      bytes = wrappingBytes + size;
    } else {
      last.push(unit);
      bytes += size;
    }
  }
  return batches;
}

/** Bytes that a check needs around its messages; each message after the first adds a comma. */
const wrappingBytes = Buffer.byteLength('{"body":{"messages":[]}}') - 1;

function unitOf(node: JsonNode & { readonly kind: 'string' }): CheckUnit {
  return { role, content: node.value, place: { kind: 'string', string: { start: node.start, end: node.end } } };
}
