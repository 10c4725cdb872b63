import { type JsonNode, member } from '#kit/json/parse-tree';
import { isDisguised } from './fold-key.ts';

/** Sorts of parts in the content of an answer. A part of another sort may hold text at a place that is not known. */
const partTypes: ReadonlySet<string> = new Set(['text', 'refusal', 'thinking', 'reference', 'image_url']);
const textKeys = ['text', 'refusal'] as const;
const ownKeys: ReadonlySet<string> = new Set(['type', 'thinking', ...textKeys]);

/**
 * The text of an answer whose content is a list of parts, as Mistral sends it with a reasoning: the texts and refusals
 * of the parts, joined without a space, as clients join them. The other members of a part are further texts.
 * @returns undefined for a part of another form
 */
export function textOfParts(items: readonly JsonNode[]): string | undefined {
  const texts: string[] = [];
  for (const part of items) {
    const type = part.kind === 'object' ? member(part, 'type') : undefined;
    if (part.kind !== 'object' || type?.kind !== 'string' || !partTypes.has(type.value)) return undefined;
    if (part.members.some(({ key }) => isDisguised(key, ownKeys))) return undefined;
    for (const key of textKeys) {
      const text = member(part, key);
      if (text?.kind === 'string') texts.push(text.value);
      else if (text !== undefined && text.kind !== 'null') return undefined;
    }
  }
  return texts.join('');
}
