import {
  completionBody,
  contentFrame,
  scriptedDoneFrame,
  type UpstreamScript,
} from '../../support/scripted-upstream.ts';

/** A fault of a provider, and the status and code that the client must receive. */
export type UpstreamFault = {
  readonly name: string;
  readonly script: UpstreamScript;
  readonly status: number;
  readonly code: string;
};

/** Part of every faulty answer; it must never reach the client. */
export const leak = 'leaked-text';
const errorBody = JSON.stringify({ error: { message: leak } });
const event = 'text/event-stream';

function failing(status: number, answered: number, code: string): UpstreamFault {
  return { name: `HTTP ${status}`, script: { kind: 'status', status, body: errorBody }, status: answered, code };
}

const statuses: readonly UpstreamFault[] = [
  failing(400, 400, 'upstream_refused'),
  failing(401, 502, 'upstream_failed'),
  failing(404, 502, 'upstream_failed'),
  failing(429, 429, 'upstream_rate_limited'),
  failing(500, 502, 'upstream_failed'),
  failing(503, 503, 'upstream_overloaded'),
  {
    name: 'a redirect',
    script: { kind: 'status', status: 307, body: errorBody, location: 'http://127.0.0.1:9/' },
    status: 502,
    code: 'upstream_failed',
  },
  {
    name: 'a connection reset before the answer',
    script: { kind: 'reset' },
    status: 502,
    code: 'upstream_unreachable',
  },
];

function raw(name: string, body: string, contentType = 'application/json', code = 'upstream_invalid'): UpstreamFault {
  return { name, script: { kind: 'raw', body, contentType }, status: 502, code };
}

const choice = (content: string, index = 0): string =>
  `{"index":${index},"message":{"role":"assistant","content":"${content}"}}`;

/** Faults of an answer for which the client did not request a stream. */
export const wholeFaults: readonly UpstreamFault[] = [
  ...statuses,
  raw('an answer that is not JSON', `<p>${leak}</p>`, 'text/html'),
  raw('half an answer', completionBody(leak).slice(0, -20)),
  raw('two choices', `{"choices":[${choice(leak)},${choice(leak, 1)}]}`),
  raw('a duplicate key', `{"choices":[],"choices":[${choice(leak)}]}`),
  raw('content that is not text', `{"choices":[{"index":0,"message":{"role":"assistant","content":{"${leak}":1}}}]}`),
  raw('a stream although none was requested', contentFrame(leak) + scriptedDoneFrame, event),
];

function frames(
  name: string,
  list: readonly string[],
  code = 'upstream_invalid',
  end: 'end' | 'close' | 'silence' = 'end',
): UpstreamFault {
  return { name, script: { kind: 'frames', frames: list, end }, status: 200, code };
}

const chunk = (choices: string): string => `data: {"choices":[${choices}]}\n\n`;
const delta = (content: string, index = 0): string => `{"index":${index},"delta":{"content":"${content}"}}`;

/** Faults of a stream; the text before them is not checked yet and must not reach the client. */
export const streamFaults: readonly UpstreamFault[] = [
  ...statuses,
  raw('a whole answer although a stream was requested', completionBody(leak)),
  frames('a connection that breaks in the middle', [contentFrame(leak)], 'upstream_broken', 'close'),
  frames('an end without [DONE]', [contentFrame(leak)], 'upstream_broken'),
  frames('silence', [contentFrame(leak)], 'upstream_timeout', 'silence'),
  frames('a frame that is not JSON', [contentFrame(leak), `data: {"${leak}\n\n`]),
  frames('an error object', [contentFrame(leak), `data: ${errorBody}\n\n`]),
  frames('two choices', [contentFrame(leak), chunk(`${delta(leak)},${delta(leak, 1)}`)]),
  frames('a choice with another index', [contentFrame(leak), chunk(delta(leak, 1))]),
  frames('a whole message in a chunk', [chunk(choice(leak))]),
  frames('a key in another case', [chunk(`{"index":0,"delta":{"Content":"${leak}"}}`), scriptedDoneFrame]),
  frames('a duplicate key', [chunk(`{"index":0,"delta":{"content":"a","content":"${leak}"}}`), scriptedDoneFrame]),
  frames('an event of more than 1 MiB', [contentFrame(`${leak}${'x'.repeat(1_100_000)}`)], 'upstream_too_large'),
];
