/** The result of one call, as a client of the gateway sees it. */
export type ChatResult = {
  /** HTTP status; undefined without a response. */
  readonly status: number | undefined;
  /** Text of the answer, as far as it arrived. */
  readonly text: string;
  /** The error object of the answer, or of the frame that ended the stream. */
  readonly error: { readonly type: string; readonly code: string | null } | undefined;
  /** Whether the answer is complete: a JSON body, or a stream with [DONE]. */
  readonly complete: boolean;
  /** The body as it arrived. */
  readonly raw: string;
  readonly headers: Headers | undefined;
};

export type ChatCall = {
  readonly url: string;
  readonly key: string;
  readonly model: string;
  readonly content: string;
  readonly stream: boolean;
  readonly headers?: Readonly<Record<string, string>>;
  /** Additional members of the body besides model, messages and stream. */
  readonly extra?: Readonly<Record<string, unknown>>;
  readonly signal?: AbortSignal;
};

type Frame = {
  readonly choices?: readonly { readonly delta?: { readonly content?: string } }[];
  readonly error?: ChatResult['error'];
};

function readFrames(raw: string): Pick<ChatResult, 'text' | 'error' | 'complete'> {
  let text = '';
  let error: ChatResult['error'];
  let complete = false;
  for (const line of raw.split('\n')) {
    if (!line.startsWith('data: ')) continue;
    if (line === 'data: [DONE]') {
      complete = true;
      continue;
    }
    const frame = JSON.parse(line.slice('data: '.length)) as Frame;
    error ??= frame.error;
    text += frame.choices?.[0]?.delta?.content ?? '';
  }
  return { text, error, complete: complete && error === undefined };
}

function readBody(raw: string): Pick<ChatResult, 'text' | 'error' | 'complete'> {
  const body = JSON.parse(raw) as {
    readonly choices?: readonly { readonly message?: { readonly content?: string | null } }[];
    readonly error?: ChatResult['error'];
  };
  const text = body.choices?.[0]?.message?.content ?? '';
  return { text, error: body.error, complete: body.error === undefined };
}

/** Reads a body to its end, or until the connection breaks. */
async function readRaw(response: Response): Promise<{ readonly raw: string; readonly broken: boolean }> {
  const decoder = new TextDecoder();
  let raw = '';
  try {
    for await (const chunk of response.body ?? []) raw += decoder.decode(chunk, { stream: true });
    return { raw, broken: false };
  } catch {
    return { raw, broken: true };
  }
}

/** Makes one chat call over a real socket. Never throws: a failure is part of the result. */
export async function chatCall(call: ChatCall): Promise<ChatResult> {
  const nothing = { status: undefined, text: '', error: undefined, complete: false, raw: '', headers: undefined };
  let response: Response;
  try {
    response = await fetch(`${call.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${call.key}`, ...call.headers },
      body: JSON.stringify({
        model: call.model,
        messages: [{ role: 'user', content: call.content }],
        stream: call.stream,
        ...call.extra,
      }),
      ...(call.signal === undefined ? {} : { signal: call.signal }),
    });
  } catch {
    return nothing;
  }
  const { raw, broken } = await readRaw(response);
  const head = { status: response.status, raw, headers: response.headers };
  try {
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
    const read = isStream ? readFrames(raw) : readBody(raw);
    return { ...head, ...read, complete: read.complete && !broken && response.status === 200 };
  } catch {
    return { ...head, text: '', error: undefined, complete: false };
  }
}
