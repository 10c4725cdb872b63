import { agentErrors } from '#contracts/agent-errors';
import { agentGatewayErrors } from '#contracts/agent-gateway-errors';
import { catalogueErrors } from '#contracts/catalogue-errors';
import { managementErrors, operationFailures } from '#contracts/management-errors';
import { memoryErrors } from '#contracts/memory-errors';
import { retrievalErrors } from '#contracts/retrieval-errors';
import { betweenPlaces } from '../clients/call-api.ts';
import type { Words } from '../words/en.ts';
import type { Markup } from './page.ts';
import { saidText } from './said-text.ts';

type RefusalText = {
  /** The sentence for the code in the language of the page, if the page has one; else the sentence of the API. */
  readonly text: string | Markup | Promise<Markup>;
  /** Whether the text is the sentence for the code, and not the sentence of the API. */
  readonly isOfCode: boolean;
  /** The sentence of the API, if it is more specific than the code. */
  readonly detail?: string | Markup | Promise<Markup>;
};

const tables = [managementErrors, retrievalErrors, memoryErrors, catalogueErrors, agentGatewayErrors, agentErrors];
/** The sentences of the APIs for each code; the sentence of the page for that code covers all of them. */
const meanings: ReadonlyMap<string, readonly { readonly meaning: string }[]> = Map.groupBy(
  [
    ...tables.flatMap((table) => Object.entries(table).map(([code, { meaning }]) => ({ code, meaning }))),
    ...Object.entries(operationFailures).map(([code, meaning]) => ({ code, meaning })),
  ],
  ({ code }) => code,
);

/** The places and reasons in a message, which follow the sentence of its code. */
function moreThanCode(code: string, message: string): string {
  const [sentence = '', ...places] = message.split(betweenPlaces);
  const isOfCode = meanings.get(code)?.some(({ meaning }) => meaning === sentence) === true;
  return isOfCode ? places.join(betweenPlaces) : message;
}

/** The words of the console for an error code and its message. */
export function refusalText(words: Words, code: string, message: string): RefusalText {
  const { errors } = words;
  const sentences: Readonly<Partial<Record<string, string>>> = errors.ofCode;
  const text = Object.hasOwn(sentences, code) ? sentences[code] : undefined;
  if (text === undefined) return { text: saidText(words, message), isOfCode: false };
  const more = moreThanCode(code, message);
  return { text, isOfCode: true, ...(more === '' ? {} : { detail: saidText(words, more) }) };
}
