import { type JsonNode, member } from '#kit/json/parse-tree';
import type { CheckUnit } from '../chat/check-unit.ts';
import { findForeignKey, rerankKeys, rerankMembers } from '../chat/known-keys.ts';
import { findWrongKind } from '../chat/member-kinds.ts';
import { accept, type ParseResult, refuse } from '../chat/parse-result.ts';

/** Maximum number of documents of one rerank request; the limit of the API. */
const maxRerankDocuments = 1_000;

/**
 * The query and the documents of a guarded rerank request as check messages, in this order. Documents are strings:
 * objects could have fields that no check sees. `return_documents` is refused, because the answer would have text of
 * the provider.
 */
export function readRerankRequest(root: JsonNode, extraKeys: ReadonlySet<string>): ParseResult<readonly CheckUnit[]> {
  if (root.kind !== 'object') return refuse('invalid_request', null);
  const refusal = findForeignKey(root, rerankKeys, extraKeys, '') ?? findWrongKind(root, rerankMembers);
  if (refusal !== undefined) return { ok: false, refusal };
  const returned = member(root, 'return_documents');
  if (returned?.kind === 'boolean' && returned.value) return refuse('unsupported_value', 'return_documents');
  const query = member(root, 'query');
  if (query?.kind !== 'string') return refuse('invalid_request', 'query');
  const documents = member(root, 'documents');
  if (documents?.kind !== 'array' || documents.items.length === 0) return refuse('invalid_request', 'documents');
  if (documents.items.length > maxRerankDocuments) return refuse('invalid_request', 'documents');
  const units = [unitOf(query)];
  for (const document of documents.items) {
    if (document.kind !== 'string') return refuse('unsupported_value', 'documents');
    units.push(unitOf(document));
  }
  return accept(units);
}

function unitOf(node: JsonNode & { readonly kind: 'string' }): CheckUnit {
  return { role: 'user', content: node.value, place: { kind: 'string', string: { start: node.start, end: node.end } } };
}
