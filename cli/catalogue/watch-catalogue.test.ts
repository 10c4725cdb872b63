import { expect, test } from 'vitest';
import { type Script, startScriptedHttp } from '#kit/testing/scripted-http';
import { agentRecord } from '../testing/agent-record.ts';
import { createCatalogueClient } from './catalogue-client.ts';
import { changedLines, watchCatalogue } from './watch-catalogue.ts';

test('a watch prints one line for each agent that appears, changes or disappears, and no line for other agents', () => {
  const before = new Map([agentRecord('a'), agentRecord('b'), agentRecord('c')]);
  const now = new Map([agentRecord('b'), agentRecord('c', { versionId: 'v2' }), agentRecord('d')]);
  expect(changedLines(before, now)).toEqual(['- a Agent a', '+ d Agent d', '~ c Agent c']);
  expect(changedLines(now, now)).toEqual([]);
});

const [first, second] = ['01890a5d-ac96-774b-bcce-b302099a8077', '01890a5d-ac96-774b-bcce-b302099a8078'] as const;
const page = (ids: readonly string[], nextCursor: string | null = null): Answer => [
  200,
  { items: ids.map((id) => agentRecord(id)[1]), nextCursor },
];
const refusal = (status: number, code: string): Answer => [
  status,
  { error: { code, message: `It is ${code}.`, traceId: '0'.repeat(32), details: [] } },
];
type Answer = readonly [status: number, body: object];

/** Watches a server that returns these answers; each failure and each line is one entry of the result. */
async function watched(answers: readonly Answer[], times: number): Promise<readonly string[]> {
  const open = [...answers];
  const script: Script = (response) => {
    const [status, body] = open.shift() ?? refusal(500, 'internal');
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };
  await using server = await startScriptedHttp(script);
  const client = createCatalogueClient({ origin: server.url, identity: async () => ({}), timeoutMs: 60_000 });
  const shown: string[] = [];
  await watchCatalogue({
    look: () => client.list({}, 1_000),
    show: (line) => shown.push(line),
    onBroken: (error) => shown.push(String((error as Error).message)),
    everyMs: 1,
    times,
    signal: new AbortController().signal,
  });
  return shown;
}

test('a watch continues after a failure of the catalogue and after a cursor of an earlier key', async () => {
  const answers = [
    page([first]),
    refusal(504, 'dependency_timeout'),
    page([first], 'c'),
    refusal(400, 'cursor_invalid'),
    page([first, second]),
  ];
  expect(await watched(answers, 4)).toEqual([
    `+ ${first} Agent ${first}`,
    'It is dependency_timeout.',
    'It is cursor_invalid.',
    `+ ${second} Agent ${second}`,
  ]);
});

test('a watch ends with the error of its first request, and with a later error that a retry cannot fix', async () => {
  await expect(watched([refusal(504, 'dependency_timeout')], 2)).rejects.toThrow('It is dependency_timeout.');
  await expect(watched([page([first]), refusal(401, 'unauthenticated')], 2)).rejects.toThrow('It is unauthenticated.');
});
