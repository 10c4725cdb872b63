import { type CountedTree, JsonError, type JsonNode, member, parseCountedTree } from '#kit/json/parse-strict';
import type { BodyRange } from './check-unit.ts';
import { isDisguised } from './fold-key.ts';
import { accept, type ParseResult, refuse } from './parse-result.ts';

/** The members of a request that decide its route. */
export type Envelope = {
  readonly root: JsonNode & { readonly kind: 'object' };
  /** Number of JSON values in the request. */
  readonly values: number;
  readonly alias: string;
  /** Position of the model's name in the body, quotes included. */
  readonly model: BodyRange;
};

/**
 * Maximum number of JSON values in a request or a whole answer: the tree of small values takes a hundred times their
 * bytes, and reading it blocks the event loop.
 */
export const maxJsonValues = 200_000;

const routingKeys: ReadonlySet<string> = new Set(['model']);

/**
 * Reads the JSON of any request and the model that it names. A second `model` key, in any letter case, is refused,
 * because the gateway and the provider could read different models.
 */
export function readEnvelope(bytes: Uint8Array): ParseResult<Envelope> {
  const parsed = parseBody(bytes);
  if (parsed === undefined) return refuse('invalid_json', null);
  const { root, values } = parsed;
  if (root.kind !== 'object') return refuse('invalid_request', null);
  if (root.members.some(({ key }) => isDisguised(key, routingKeys))) return refuse('ambiguous_key', 'model');
  const model = member(root, 'model');
  if (model?.kind !== 'string' || model.value === '') return refuse('invalid_request', 'model');
  return accept({ root, values, alias: model.value, model: { start: model.start, end: model.end } });
}

function parseBody(bytes: Uint8Array): CountedTree | undefined {
  try {
    return parseCountedTree(bytes, { maxValues: maxJsonValues });
  } catch (error) {
    if (error instanceof JsonError) return undefined;
    throw error;
  }
}
