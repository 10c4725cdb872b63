import { fileURLToPath } from 'node:url';
import { openPythonLines } from '../support/python-lines.ts';

/** One pattern, and the texts against which it is matched. */
export type MatchRequest = {
  readonly pattern: string;
  readonly caseSensitive: boolean;
  readonly texts: readonly string[];
};

/** The result of an engine: whether it accepts the pattern and, for each text, `[start, end, start, end, …]` in bytes. */
export type MatchResult = { readonly accepted: boolean; readonly spans: readonly (readonly number[])[] };

/** google-re2 in a separate Python process. Requests may overlap; each gets its answers in order. */
export type Reference = AsyncDisposable & {
  ask(questions: readonly MatchRequest[]): Promise<readonly MatchResult[]>;
};

const script = fileURLToPath(new URL('./judge-patterns.py', import.meta.url));

/** Starts the reference with a Python that has the packages of requirements.txt. */
export function openReference(python: string): Reference {
  const lines = openPythonLines<object, MatchResult>({ python, script });
  return {
    ask: (questions) => lines.ask(questions.map(encoded)),
    [Symbol.asyncDispose]: () => lines[Symbol.asyncDispose](),
  };
}

function encoded({ pattern, caseSensitive, texts }: MatchRequest): object {
  return { pattern: base64(pattern), caseSensitive, texts: texts.map(base64) };
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
