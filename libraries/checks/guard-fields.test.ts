import { afterEach, beforeEach, expect, test } from 'vitest';
import { verifies } from '../../e2e/support/verifies.ts';
import { type CheckClient, createCheckClient } from './client.ts';
import { guardEach, guardFields } from './guard-fields.ts';
import { checkTargetOf, said, testToken } from './testing/check-fixture.ts';
import { createIndexingCaller } from './testing/indexing-caller.ts';
import {
  answerWith,
  denyResult,
  passResult,
  type RuntimeBehaviour,
  rawAnswer,
  requestMask,
  type ScriptedRuntime,
  scriptedError,
  startScriptedRuntime,
} from './testing/scripted-runtime.ts';

let client: CheckClient;
let runtime: ScriptedRuntime;
let caller: ReturnType<typeof createIndexingCaller>;

beforeEach(async () => {
  client = createCheckClient({ tokenFile: testToken, slackMs: 100 });
  runtime = await startScriptedRuntime(answerWith(200, passResult));
  caller = createIndexingCaller(client, checkTargetOf([runtime.origin]));
});
afterEach(async () => {
  await runtime[Symbol.asyncDispose]();
  await client[Symbol.asyncDispose]();
});

const letter = {
  id: 'doc-17',
  accessList: ['group:finance'],
  metadata: { source: 'mail', author: 'ivan' },
  texts: { title: 'Invoice', body: 'pay ivan@example.com today' },
};
/** Masks as a runtime does: every e-mail address of every message. */
const masking: RuntimeBehaviour = (socket, { body }) => {
  const { messages } = JSON.parse(body).body;
  const masked = messages.map((message: { role: string; content: string }) => ({
    ...message,
    content: message.content.replaceAll(/\S+@\S+/g, '[email]'),
  }));
  socket.write(rawAnswer(200, JSON.stringify(requestMask(...masked))));
};

verifies(
  ['guardrail:usage:direct-call', 'client:result:only-after-pass-or-valid-mask'],
  'a service stores and indexes the original text after a pass',
  async () => {
    expect(await caller.submit(letter)).toMatchObject({ kind: 'pass' });
    expect(caller.store.get('doc-17')).toEqual(letter);
    expect(caller.find('ivan@example.com')).toEqual(['doc-17']);
  },
);

verifies(
  ['client:prepare:position-table', 'guardrail:text-only:caller-maps-results'],
  'field names of the caller are not sent with a check, and results map to fields by position',
  async () => {
    runtime.behave(masking);
    const fields = new Map([
      ['body', 'to a@b.example'],
      ['10', 'ten'],
      ['2', 'two c@d.example'],
    ]);
    const outcome = guardFields(client, checkTargetOf([runtime.origin]), 'request', fields);
    fields.set('late', 'added while the check runs');
    fields.delete('body');
    expect(await outcome).toEqual({
      kind: 'mask',
      fields: new Map([
        ['body', 'to [email]'],
        ['10', 'ten'],
        ['2', 'two [email]'],
      ]),
    });
    expect(JSON.parse(runtime.received[0]?.body ?? '')).toEqual({
      body: { messages: [said('to a@b.example'), said('ten'), said('two c@d.example')] },
    });
  },
);

verifies(
  ['client:mask:original-not-stored', 'client:mask:original-not-indexed', 'guardrail:mask:replaces-checked-body-only'],
  'after a mask only the masked text is stored and indexed, and identifiers, access list and metadata are unchanged',
  async () => {
    runtime.behave(masking);
    expect(await caller.submit(letter)).toMatchObject({ kind: 'mask' });
    expect(caller.store.get('doc-17')).toEqual({ ...letter, texts: { title: 'Invoice', body: 'pay [email] today' } });
    expect(JSON.stringify([...caller.store.values()])).not.toContain('ivan@example.com');
    expect(caller.words()).not.toContain('ivan@example.com');
    expect(caller.find('[email]')).toEqual(['doc-17']);
    const sent = runtime.received[0]?.body ?? '';
    for (const own of ['doc-17', 'group:finance', 'mail', 'author']) expect(sent).not.toContain(own);
  },
);

verifies(
  [
    'client:result:only-after-pass-or-valid-mask',
    'client:failure:non-200-forbids',
    'client:failure:network-forbids',
    'client:result:unknown-action',
    'guardrail:mask:client-rejects-difference',
  ],
  'a service stores and indexes nothing until a check gives a pass or a valid mask',
  async () => {
    const faults: readonly RuntimeBehaviour[] = [
      answerWith(200, denyResult),
      answerWith(500, passResult),
      answerWith(503, scriptedError('stage_timeout')),
      answerWith(307, passResult, { location: runtime.origin }),
      answerWith(200, { action: { reason: 'unknown' } }),
      answerWith(200, requestMask(said('Invoice'))),
      answerWith(200, requestMask(said('pay [email]'), { role: 'system', content: 'Invoice' })),
      (socket) => socket.resetAndDestroy(),
      () => undefined,
    ];
    for (const fault of faults) {
      runtime.behave(fault);
      expect(['deny', 'failed']).toContain((await caller.submit(letter)).kind);
      expect(caller.store.size).toBe(0);
      expect(caller.words()).toEqual([]);
    }
    runtime.behave(answerWith(200, passResult));
    await caller.submit(letter);
    expect(caller.store.size).toBe(1);
  },
);

verifies(['client:deny:no-retry'], 'a denied document is checked once', async () => {
  runtime.behave(answerWith(200, denyResult));
  expect(await caller.submit(letter)).toEqual({ kind: 'deny' });
  expect(runtime.received).toHaveLength(1);
});

verifies(
  ['guardrail:execution:independent-decisions'],
  'documents are checked with one call each and bounded concurrency, and each gets its own decision',
  async () => {
    let open = 0;
    let most = 0;
    runtime.behave((socket, { body }) => {
      open += 1;
      most = Math.max(most, open);
      setImmediate(() => {
        open -= 1;
        const result = body.includes('text 3') ? denyResult : passResult;
        socket.write(rawAnswer(200, JSON.stringify(result)));
      });
    });
    const documents = new Map(
      Array.from({ length: 10 }, (_, at): [string, Map<string, string>] => [`d${at}`, new Map([['t', `text ${at}`]])]),
    );
    const target = checkTargetOf([runtime.origin]);
    const outcomes = await guardEach(client, target, 'request', documents, { concurrency: 2 });
    expect([...outcomes].map(([name, { kind }]) => `${name} ${kind}`)).toEqual(
      Array.from({ length: 10 }, (_, at) => `d${at} ${at === 3 ? 'deny' : 'pass'}`),
    );
    expect(runtime.received).toHaveLength(10);
    expect(most).toBe(2);
  },
);

test('a check without any text is a failure, not a pass', async () => {
  const outcome = await guardFields(client, checkTargetOf([runtime.origin]), 'request', new Map());
  expect(outcome).toMatchObject({ kind: 'failed', code: 'message_limit' });
  expect(runtime.received).toHaveLength(0);
});
