import { createServer, type IncomingMessage, type ServerResponse, request as sendRequest } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { closeServer, listenOnLoopback } from './loopback.ts';

/** The fault of a check; `pass` changes nothing. Probes without messages always pass. */
export type Fault =
  | { readonly kind: 'pass' }
  /** The answer arrives, changed. */
  | { readonly kind: 'rewrite'; readonly rewrite: (answer: Answer) => Answer }
  /** The answer arrives late. */
  | { readonly kind: 'delay'; readonly ms: number }
  /** The answer is truncated after its headers and half of its body. */
  | { readonly kind: 'truncate' }
  | { readonly kind: 'reset' }
  | { readonly kind: 'silence' }
  /** The check reaches the runtime with another value of a header. */
  | { readonly kind: 'header'; readonly name: string; readonly value: string };

export type Answer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

/** A forwarded check, with the runtime's own answer. */
type SeenCheck = { readonly path: string; readonly rawHeaders: readonly string[]; readonly body: string };

export type ChaosProxy = AsyncDisposable & {
  readonly url: string;
  readonly seen: readonly SeenCheck[];
  /** Sets the fault for all following checks; a function chooses one for each check. */
  readonly inject: (fault: Fault | ((check: SeenCheck) => Fault)) => void;
  /** Forwards everything to another runtime from now on. */
  readonly retarget: (target: string) => void;
};

async function readAll(stream: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

function replaceHeader(rawHeaders: readonly string[], name: string, value: string): readonly string[] {
  return rawHeaders.map((part, index) =>
    rawHeaders[index - 1]?.toLowerCase() === name && index % 2 === 1 ? value : part,
  );
}

function forward(url: string, method: string, headers: readonly string[], body: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = sendRequest(url, { method, headers: [...headers] }, (answer) => {
      readAll(answer).then(
        (text) =>
          resolve({
            status: answer.statusCode ?? 0,
            headers: { 'content-type': answer.headers['content-type'] ?? 'application/json' },
            body: text,
          }),
        reject,
      );
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

function send(response: ServerResponse, answer: Answer): void {
  response.writeHead(answer.status, { ...answer.headers, 'content-length': Buffer.byteLength(answer.body) });
  response.end(answer.body);
}

type Forward = (change?: { readonly name: string; readonly value: string }) => Promise<Answer>;

async function play(fault: Fault, answer: Forward, response: ServerResponse): Promise<void> {
  switch (fault.kind) {
    case 'pass':
      return send(response, await answer());
    case 'header':
      return send(response, await answer(fault));
    case 'rewrite':
      return send(response, fault.rewrite(await answer()));
    case 'delay': {
      await pause(fault.ms);
      return send(response, await answer());
    }
    case 'truncate': {
      const { status, headers, body } = await answer();
      response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) });
      response.write(body.slice(0, Math.floor(body.length / 2)), () => response.destroy());
      return;
    }
    case 'reset':
      response.destroy();
      return;
    case 'silence':
      return;
  }
}

const isProbe = (body: string): boolean => /"(?:messages|choices)"\s*:\s*\[\s*\]/.test(body);

/** A proxy between a gateway and a runtime with configurable faults. */
export async function startChaosProxy(first: string): Promise<ChaosProxy> {
  let target = first;
  const seen: SeenCheck[] = [];
  let choose: (check: SeenCheck) => Fault = () => ({ kind: 'pass' });
  const server = createServer((incoming, response) => {
    readAll(incoming)
      .then((body) => {
        const check = { path: incoming.url ?? '', rawHeaders: incoming.rawHeaders, body };
        const { rawHeaders } = check;
        const probe = isProbe(body);
        if (!probe) seen.push(check);
        const answer: Forward = (change) => {
          const headers = change === undefined ? rawHeaders : replaceHeader(rawHeaders, change.name, change.value);
          return forward(`${target}${check.path}`, incoming.method ?? 'GET', headers, body);
        };
        return play(probe ? { kind: 'pass' } : choose(check), answer, response);
      })
      .catch(() => response.destroy());
  });
  return {
    url: await listenOnLoopback(server),
    seen,
    inject: (fault) => {
      choose = typeof fault === 'function' ? fault : () => fault;
    },
    retarget: (other) => {
      target = other;
    },
    [Symbol.asyncDispose]: () => closeServer(server),
  };
}
