import { expect, test } from 'vitest';
import { confirmRequested } from '../confirm-requested.ts';
import { createHandler } from '../http/create-handler.ts';
import { alteredHandlers } from '../testing/altered-handlers.ts';
import { checkedFile } from './confirm-files.ts';

type Alter = Parameters<typeof alteredHandlers>[1];

const every = ['a2a.message', 'a2a.streaming', 'mcp.tool', 'files'] as const;
const ok = (result: object) => ({ status: 200, text: JSON.stringify(result) });
const readFile = ok({ message: { parts: [{ text: checkedFile.text }] } });

test('the startup check confirms every capability of the program', async () => {
  const unconfirmed: string[] = [];
  const confirmed = await confirmRequested(every, createHandler, (capability) => void unconfirmed.push(capability));
  expect([...confirmed]).toEqual(every);
  expect(unconfirmed).toEqual([]);
});

const defects: readonly (readonly [does: string, lacks: (typeof every)[number], alter: Alter])[] = [
  [
    'answers another version of A2A',
    'a2a.message',
    ({ headers }) => (headers['a2a-version'] === '0.3' ? ok({}) : undefined),
  ],
  [
    'answers without an identity',
    'a2a.message',
    ({ headers }) => (headers['authorization'] === 'Bearer none' ? ok({}) : undefined),
  ],
  [
    'answers with another text',
    'a2a.message',
    ({ path, text }) => (path === '/message:send' ? { text: text.replace('"check"', '"other"') } : undefined),
  ],
  [
    'streams no artifact',
    'a2a.streaming',
    ({ text }) => ({ text: text.replace(/data: \{"artifactUpdate".*\n\n/, '') }),
  ],
  [
    'streams no final status',
    'a2a.streaming',
    ({ text }) => ({ text: text.replace(/data: [^\n]*TASK_STATE_COMPLETED.*\n\n/, '') }),
  ],
  [
    'lets an ended task be subscribed to',
    'a2a.streaming',
    ({ path }) => (path.endsWith(':subscribe') ? ok({}) : undefined),
  ],
  ['lists two tools', 'mcp.tool', ({ text }) => ({ text: text.replace(/"tools":\[(.*)\]/, '"tools":[$1,$1]') })],
  [
    'answers an unknown method of MCP',
    'mcp.tool',
    ({ body }) => (body.includes('resources/list') ? ok({ result: {} }) : undefined),
  ],
  [
    'keeps a session after its end',
    'mcp.tool',
    ({ body, status }) => (body.includes('"ping"') && status === 404 ? ok({ result: {} }) : undefined),
  ],
  ['accepts a forged reference to a file', 'files', ({ body }) => (body.includes('"forged"') ? readFile : undefined)],
  [
    'reads a file twice',
    'files',
    ({ body, status }) =>
      body.includes('"file"') && !body.includes('"forged"') && status === 403 ? readFile : undefined,
  ],
  ['reads no file', 'files', ({ body, status }) => (body.includes('"file"') && status === 200 ? ok({}) : undefined)],
];

test.each(defects)('a program that %s does not have the capability %s', async (_does, lacks, alter) => {
  await using parts = new AsyncDisposableStack();
  const unconfirmed: string[] = [];
  const confirmed = await confirmRequested(every, alteredHandlers(parts, alter), (capability, reason) => {
    unconfirmed.push(`${capability}: ${reason}`);
  });
  expect(unconfirmed).toEqual([`${lacks}: an answer is not the expected one`]);
  expect([...confirmed]).toEqual(every.filter((capability) => capability !== lacks));
});
