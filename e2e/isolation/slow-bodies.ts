import { type HeldRequest, holdRequest } from '../../runtime/testing/held-request.ts';
import type { IsolatedRuntime } from './isolated-runtime.ts';

/**
 * How a client sends its body: single bytes at intervals, one piece and then nothing, nothing at all, or without an
 * end.
 */
type SlowWay = 'dribble' | 'half' | 'nothing' | 'chunks' | 'continue';
export const slowWays: readonly SlowWay[] = ['dribble', 'half', 'nothing', 'chunks', 'continue'];

const dribbleMs = 100;
const framing: Readonly<Record<SlowWay, string>> = {
  dribble: 'content-length: 1000',
  half: 'content-length: 1000',
  nothing: 'content-length: 1000',
  chunks: 'transfer-encoding: chunked',
  continue: 'content-length: 1000\r\nexpect: 100-continue',
};
const pieces: Readonly<Record<SlowWay, string>> = {
  dribble: '{',
  half: '{"body":{"messages":[{"role":"user","con',
  nothing: '',
  chunks: '8\r\n{"body":\r\n',
  continue: '',
};
const next: Readonly<Record<SlowWay, string>> = {
  dribble: ' ',
  half: '',
  nothing: '',
  chunks: '1\r\n \r\n',
  continue: '',
};

type SlowBodies = Disposable & {
  /** Status line of the last answer and the code for each client; undefined before an answer. */
  readonly outcomes: () => readonly (string | undefined)[];
  readonly closed: () => number;
};

/** The head of a valid check whose body has this framing. */
export function headOf(runtime: IsolatedRuntime, ...lines: readonly string[]): string {
  const list = runtime.headers();
  const good = Array.from({ length: list.length / 2 }, (_, at) => `${list[2 * at]}: ${list[2 * at + 1]}`);
  return `${['POST /request HTTP/1.1', 'host: runtime', ...good, ...lines].join('\r\n')}\r\n\r\n`;
}

/** Clients that start a body at the same time and never complete it. */
export async function sendSlowBodies(runtime: IsolatedRuntime, ways: readonly SlowWay[]): Promise<SlowBodies> {
  const held = await Promise.all(
    ways.map((way) => holdRequest(runtime.url, headOf(runtime, framing[way]) + pieces[way])),
  );
  let closed = 0;
  for (const one of held) {
    const count = () => {
      closed += 1;
    };
    one.closed.then(count, count);
  }
  const timer = setInterval(() => {
    for (const [at, one] of held.entries()) dribble(one, next[ways[at] ?? 'nothing']);
  }, dribbleMs);
  return {
    outcomes: () => held.map((one) => outcomeOf(one.received())),
    closed: () => closed,
    [Symbol.dispose]: () => {
      clearInterval(timer);
      for (const one of held) one[Symbol.dispose]();
    },
  };
}

function dribble({ socket, send }: HeldRequest, piece: string): void {
  if (piece !== '' && socket.writable) send(piece);
}

function outcomeOf(received: string): string | undefined {
  const status = /HTTP\/1\.1 ([2-5]\d\d) /.exec(received)?.[1];
  const code = /"code":"(\w+)"/.exec(received)?.[1];
  return status === undefined || code === undefined ? undefined : `${status} ${code}`;
}
