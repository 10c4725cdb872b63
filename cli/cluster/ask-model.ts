const timeoutMs = 30_000;

export type ModelQuestion = {
  readonly url: string;
  /** Client key; none is sent where absent. */
  readonly key: string | undefined;
  readonly path: string;
  /** Text of the user, for the example model; a GET where absent. */
  readonly content?: string;
  readonly stream?: boolean;
};

export type ModelAnswer = {
  readonly status: number;
  /** Everything that came after the headers. */
  readonly raw: string;
  /** Text of the model; empty where there is none. */
  readonly text: string;
  /** Code of the error object, of the answer or of the frame that ended a stream. */
  readonly code: string | undefined;
};

type Body = {
  readonly choices?: readonly {
    readonly message?: { readonly content?: string | null };
    readonly delta?: { readonly content?: string | null };
  }[];
  readonly error?: { readonly code?: string | null };
};

/** One call of the gateway. @throws where no whole answer came */
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
