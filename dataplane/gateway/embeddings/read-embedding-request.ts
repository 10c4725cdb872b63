import { type JsonNode, member } from '#kit/json/parse-tree';
import type { CheckUnit } from '../chat/check-unit.ts';
import { embeddingKeys, embeddingMembers, findForeignKey } from '../chat/known-keys.ts';
import { findWrongKind } from '../chat/member-kinds.ts';
import { accept, type ParseResult, refuse } from '../chat/parse-result.ts';

/** Maximum number of strings of one embeddings request; the limit of the API. */
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
  const refusal = findForeignKey(root, embeddingKeys, extraKeys, '') ?? findWrongKind(root, embeddingMembers);
  if (refusal !== undefined) return { ok: false, refusal };
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

function unitOf(node: JsonNode & { readonly kind: 'string' }): CheckUnit {
  return { role, content: node.value, place: { kind: 'string', string: { start: node.start, end: node.end } } };
}
