const timeoutMs = 30_000;

type ModelQuestion = {
  readonly url: string;
  /** Client key of the gateway; absent if the gateway requires none. */
  readonly key: string | undefined;
  readonly path: string;
  /** Message for the example model; a GET request if absent. */
  readonly content?: string;
  readonly stream?: boolean;
};

export type ModelAnswer = {
  readonly status: number;
  /** The whole body. */
  readonly raw: string;
  /** Text of the model; may be empty. */
  readonly text: string;
  /** Code of the error object in the body or in the stream. */
  readonly code: string | undefined;
};

type Body = {
  readonly choices?: readonly {
    readonly message?: { readonly content?: string | null };
    readonly delta?: { readonly content?: string | null };
  }[];
  readonly error?: { readonly code?: string | null };
};

/** Calls the gateway once. @throws on any network failure */
export async function askModel({ url, key, path, content, stream = false }: ModelQuestion): Promise<ModelAnswer> {
  const body = { model: 'guarded-echo', messages: [{ role: 'user', content }], stream };
  const response = await fetch(`${url}${path}`, {
    signal: AbortSignal.timeout(timeoutMs),
    headers: {
      'content-type': 'application/json',
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
    },
    ...(content === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
  });
  const raw = await response.text();
  const bodies = bodiesOf(raw, response.headers.get('content-type') ?? '');
  return {
    status: response.status,
    raw,
    text: bodies.map(textOf).join(''),
    code: bodies.find((one) => one.error !== undefined)?.error?.code ?? undefined,
  };
}

function bodiesOf(raw: string, contentType: string): readonly Body[] {
  if (contentType.startsWith('application/json')) return [JSON.parse(raw) as Body];
  return raw
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice('data: '.length)) as Body);
}

function textOf({ choices = [] }: Body): string {
  const [first] = choices;
  return first?.message?.content ?? first?.delta?.content ?? '';
}
