/** What a request of the corpus is made of, before one thing is wrong with it. */
export type Stage = 'request' | 'response';

/** A request with exactly one fault, and the answer that it must get. */
export type StrictCase = {
  readonly name: string;
  /** Changes a right request; `port` is where it goes. */
  readonly bytes: (right: RightRequest) => Buffer;
  readonly status: number;
  readonly code: string;
};

/** A right request and the means to change one thing of it. */
export type RightRequest = {
  readonly stage: Stage;
  /** Its bytes with another body; content-length follows. */
  readonly withBody: (body: Buffer | string) => Buffer;
  /** Its bytes with headers added, replaced or removed. */
  readonly withHeaders: (change: (headers: Headers) => Headers) => Buffer;
  /** Its bytes with another request line. */
  readonly withLine: (line: string) => Buffer;
};

export type Headers = readonly (readonly [string, string])[];

export const without =
  (name: string) =>
  (headers: Headers): Headers =>
    headers.filter(([other]) => other !== name);

export const replaced =
  (name: string, ...values: readonly string[]) =>
  (headers: Headers): Headers => [...without(name)(headers), ...values.map((value) => [name, value] as const)];

export const added =
  (name: string, value: string) =>
  (headers: Headers): Headers => [...headers, [name, value]];

/** Stands in every text that a case sends; no error may repeat it. */
export const marker = 'text-of-a-user';

/** The messages of a body in the shape of its stage. */
export function bodyText(stage: Stage, messages: readonly string[]): string {
  if (stage === 'request') return `{"body":{"messages":[${messages.join(',')}]}}`;
  return `{"body":{"choices":[${messages.map((message) => `{"message":${message}}`).join(',')}]}}`;
}

export const goodMessage = `{"role":"user","content":"${marker}"}`;
