import { html } from 'hono/html';
import { agentErrors } from '#contracts/agent-errors';
import { agentGatewayErrors } from '#contracts/agent-gateway-errors';
import { catalogueErrors } from '#contracts/catalogue-errors';
import { managementErrors, operationFailures } from '#contracts/management-errors';
import { memoryErrors } from '#contracts/memory-errors';
import { retrievalErrors } from '#contracts/retrieval-errors';
import type { Words } from '../words/en.ts';
import { refusalsEn } from '../words/refusals-en.ts';
import type { Markup } from './page.ts';

type RefusalText = {
  /** In the language of the page, if it has a sentence for the code; else the sentence of the API, marked as English. */
  readonly text: string | Markup | Promise<Markup>;
  /** Whether the text is that of the code, and not the sentence of the API. */
  readonly isOfCode: boolean;
  /** The sentence of the API, in English, if it says more than the code. */
  readonly detail?: string;
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

/** The words for a code and its message. */
export function refusalText({ errors }: Words, code: string, message: string): RefusalText {
  const sentences: Readonly<Partial<Record<string, string>>> = errors.ofCode;
  const text = Object.hasOwn(sentences, code) ? sentences[code] : undefined;
  if (text === undefined) {
    const isPlain = message === '' || sentences === refusalsEn;
    return { text: isPlain ? message : html`<span lang="en">${message}</span>`, isOfCode: false };
  }
  const isSaid = message === '' || meanings.get(code)?.some(({ meaning }) => meaning === message) === true;
  return { text, isOfCode: true, ...(isSaid ? {} : { detail: message }) };
}
