import { agentErrors } from '#contracts/agent-errors';
import { agentGatewayErrors } from '#contracts/agent-gateway-errors';
import { catalogueErrors } from '#contracts/catalogue-errors';
import { managementErrors, operationFailures } from '#contracts/management-errors';
import { memoryErrors } from '#contracts/memory-errors';
import { retrievalErrors } from '#contracts/retrieval-errors';
import type { Words } from '../words/en.ts';

type RefusalText = {
  /** In the language of the page, if it has a sentence for the code; else the sentence of the API. */
  readonly text: string;
  /** The sentence of the API, in English, if it says more than the code. */
  readonly detail?: string;
};

const tables = [managementErrors, retrievalErrors, memoryErrors, catalogueErrors, agentGatewayErrors, agentErrors];
/** Sentences of the APIs that say what their code says. */
const meanings: ReadonlySet<string> = new Set([
  ...tables.flatMap((table) => Object.values(table).map(({ meaning }) => meaning)),
  ...Object.values(operationFailures),
]);

/** The words for a code and its message. */
export function refusalText({ errors }: Words, code: string, message: string): RefusalText {
  const sentences: Readonly<Partial<Record<string, string>>> = errors.ofCode;
  const text = Object.hasOwn(sentences, code) ? sentences[code] : undefined;
  if (text === undefined) return { text: message };
  return message === '' || meanings.has(message) ? { text } : { text, detail: message };
}
