import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { noUsage, type RunAmounts } from '#contracts/run-usage';
import { openTrace } from '#kit/http/trace-context';
import { answers, type Script, type ScriptedHttp, startScriptedHttp } from '#kit/testing/scripted-http';
import { until } from '#kit/testing/until';
import { PortError } from '../engine/flow-error.ts';
import { createAgentPort } from './agent-port.ts';

let gateway: ScriptedHttp;
beforeAll(async () => {
  gateway = await startScriptedHttp(answers({}));
});
afterAll(() => gateway?.[Symbol.asyncDispose]());

type Identity = Parameters<typeof createAgentPort>[0]['identity'];
type Called = { readonly url?: string; readonly identity?: Identity; readonly signal?: AbortSignal };

/** Calls the agent `helper`. */
async function call({ url = gateway.url, identity = () => async () => ({}), ...rest }: Called = {}) {
  const port = createAgentPort({ url: new URL(url), identity });
  const { signal = new AbortController().signal } = rest;
  let used: RunAmounts | undefined;
  const share = {
    amounts: { nodes: 9, modelTokens: 9, outputBytes: 9 },
    report(usage: RunAmounts) {
      used = usage;
    },
  };
  const facts = {
    ...{ signal, runId: 'r', traceId: 't', trace: openTrace(undefined) },
    ...{ caller: 'n', path: 'n', attempt: 1, context: {}, share },
  };
  const ended = await port({ agentId: 'helper', text: 'hello' }, facts).then(
    ({ text }) => ({ code: 'none', hadNoEffect: undefined, text }),
    ({ code, hadNoEffect }: PortError) => ({ code, hadNoEffect, text: undefined }),
  );
  return { ...ended, used };
}

/** Answers as the gateway or an agent does that refuses a call. */
const refusing =
  (code: string, status: number, usage?: string): Script =>
  (response) => {
    response.writeHead(status, usage === undefined ? {} : { 'x-portcullis-run-usage': usage });
    response.end(JSON.stringify({ error: { code: status, details: [{ metadata: { code, traceId: 't' } }] } }));
  };

const refusals = [
  ['guardrail_denied', 403, 'guardrail_denied'],
  ['guardrail_error', 503, 'unavailable'],
  ['answer_refused', 502, 'answer_invalid'],
  ['forbidden', 403, 'forbidden'],
  ['output_invalid', 502, 'answer_invalid'],
  ['flow_failed', 500, 'refused'],
  ['budget_exceeded', 429, 'refused'],
  ['too_many_runs', 429, 'rate_limited'],
  ['deadline_exceeded', 504, 'refused'],
  ['internal', 500, 'refused'],
  ['agent_unavailable', 503, 'unavailable'],
] as const;

test.each(refusals)(
  'an agent call whose agent ends with %s and status %i ends as %s',
  async (code, status, expected) => {
    gateway.play(refusing(code, status));
    expect(await call()).toMatchObject({ code: expected, hadNoEffect: false });
  },
);

test.each(refusals)(
  'an agent call that %s with status %i refuses had no effect if its answer says that no run has started',
  async (...refusal) => {
    const [code, status, expected] = refusal;
    gateway.play(refusing(code, status, 'nodes=0,modelTokens=0,outputBytes=0'));
    expect(await call()).toMatchObject({ code: expected, hadNoEffect: true, used: noUsage });
    gateway.play(refusing(code, status, 'nodes=1,modelTokens=0,outputBytes=0'));
    expect(await call()).toMatchObject({ code: expected, hadNoEffect: false, used: { nodes: 1 } });
  },
);

test('an agent call had no effect if the gateway has no listener, and may have had one if the connection breaks', async () => {
  const broken = createServer((socket) => socket.once('data', () => socket.destroy())).listen(0, '127.0.0.1');
  await once(broken, 'listening');
  const url = `http://127.0.0.1:${(broken.address() as AddressInfo).port}`;
  expect(await call({ url })).toMatchObject({ code: 'unavailable', hadNoEffect: false, used: undefined });
  broken.close();
  await once(broken, 'close');
  expect(await call({ url })).toMatchObject({ code: 'unavailable', hadNoEffect: true, used: noUsage });
});

test('an agent call that gets no token had no effect', async () => {
  const identity: Identity = () => async () => {
    throw new PortError('unavailable');
  };
  expect(await call({ identity })).toMatchObject({ code: 'unavailable', hadNoEffect: true, used: noUsage });
});

/** Answers the message with a task, its reads with each of `reads`, and then with the completed task. */
function taskAfter(reads: readonly Script[]): Script {
  const taskOf = (state: string) => ({ id: '7', status: { state }, artifacts: [{ parts: [{ text: 'done' }] }] });
  let at = 0;
  return (response, request) => {
    if (request.path.endsWith('/message:send')) {
      return response.end(JSON.stringify({ task: taskOf('TASK_STATE_WORKING') }));
    }
    // The task that the previous call has left.
    if (request.path.endsWith(':cancel')) return response.end('{}');
    const script = reads[at] ?? ((last) => last.end(JSON.stringify(taskOf('TASK_STATE_COMPLETED'))));
    at += 1;
    return script(response, request);
  };
}

test('the task of a called version is read and cancelled at this version, as the answer of the gateway names it', async () => {
  const versionId = '01890a5d-ac96-774b-bcce-b302099a8062';
  const pathsWith = async (name: string | undefined, read: Script) => {
    const stop = new AbortController();
    const script = taskAfter([read]);
    gateway.forget();
    gateway.play((response, request) => {
      if (name !== undefined && request.path.endsWith('/message:send')) {
        response.setHeader('x-portcullis-agent-version', name);
      }
      return script(response, request);
    });
    const ended = call({ signal: stop.signal }).catch(() => undefined);
    await until('the task is read', () => gateway.seen.some(({ path }) => path.endsWith('/tasks/7')));
    stop.abort(new Error('the run has ended'));
    await ended;
    await until('the task is cancelled', () => gateway.seen.some(({ path }) => path.endsWith('/tasks/7:cancel')));
    return gateway.seen.map(({ path }) => path);
  };
  const silent: Script = () => undefined;
  const paths = ['/tasks/7', '/tasks/7:cancel'];
  const sent = '/agents/helper/message:send';
  const ofVersion = paths.map((path) => `/agents/helper/versions/${versionId}${path}`);
  expect(await pathsWith(versionId, silent)).toEqual([sent, ...ofVersion]);
  for (const name of [undefined, '../other']) {
    expect(await pathsWith(name, silent)).toEqual([sent, ...paths.map((path) => `/agents/helper${path}`)]);
  }
});

const away = refusing('shutting_down', 503, 'nodes=0,modelTokens=0,outputBytes=0');
const busy = refusing('too_many_runs', 429);

test.each([
  ['five reads fail', [away, busy, away, away, away], { code: 'none', text: 'done' }],
  ['six reads fail', [away, away, away, away, away, busy], { code: 'rate_limited', hadNoEffect: false }],
  ['a read is refused', [refusing('not_found', 404)], { code: 'not_found', hadNoEffect: false }],
])('a task of which %s one after the other', async (_, reads, expected) => {
  gateway.play(taskAfter(reads));
  expect(await call()).toMatchObject(expected);
});

/** Answers the message with a task of this id and in this state, and notes the requests to cancel it. */
function openTask(id: string, state: string) {
  const cancelled: string[] = [];
  let reads = 0;
  const script: Script = (response, request) => {
    // A request of the previous call may arrive late.
    if (request.path.endsWith(':cancel')) {
      if (request.path.includes(`/${id}:`))
        cancelled.push(`${request.method} ${request.path} ${request.headers['authorization']}`);
      return response.end('{}');
    }
    if (request.method === 'GET') reads += 1;
    const task = { id, status: { state } };
    return response.end(JSON.stringify(request.method === 'GET' ? task : { task }));
  };
  return { script, cancelled, reads: () => reads };
}

test('a task that has not ended when its run ends is cancelled with the identity of the last read', async () => {
  const { script, cancelled, reads } = openTask('left', 'TASK_STATE_WORKING');
  gateway.play(script);
  const run = new AbortController();
  let tokens = 0;
  const identity: Identity = () => async () => {
    // A run that has ended gets no token.
    run.signal.throwIfAborted();
    tokens += 1;
    return { authorization: `token-${tokens}` };
  };
  const ended = call({ identity, signal: run.signal });
  await until('the task was read', () => reads() > 0);
  run.abort(new PortError('unavailable'));
  expect(await ended).toMatchObject({ code: 'unavailable' });
  await until('the task is cancelled', () => cancelled.length > 0);
  expect(cancelled).toEqual([`POST /agents/helper/tasks/left:cancel token-${tokens}`]);
});

test.each([
  ['TASK_STATE_INPUT_REQUIRED', 'input_required', 1],
  ['TASK_STATE_AUTH_REQUIRED', 'auth_required', 1],
  ['TASK_STATE_FAILED', 'refused', 0],
  ['TASK_STATE_COMPLETED', 'none', 0],
])('a task in the state %s ends its call as %s, and is cancelled %i times', async (state, code, count) => {
  const { script, cancelled } = openTask(`in-${state}`, state);
  gateway.play(script);
  expect(await call()).toMatchObject({ code });
  if (count > 0) await until('the task is cancelled', () => cancelled.length === count);
  // A request that was sent earlier has arrived when this one is answered.
  await fetch(gateway.url);
  expect(cancelled).toHaveLength(count);
});
