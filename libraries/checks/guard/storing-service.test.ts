import { afterEach, beforeEach, expect } from 'vitest';
import type { ServedTarget } from '#contracts/served-target';
import { verifies } from '../../../e2e/support/verifies.ts';
import { type CheckClient, createCheckClient } from '../client.ts';
import { said, testToken } from '../testing/check-fixture.ts';
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
} from '../testing/scripted-runtime.ts';
import { createStoringService } from '../testing/storing-service.ts';
import { createStorageGuard, type StorageGuard } from './storage-guard.ts';

const served: Omit<ServedTarget, 'addresses'> = {
  policyId: 'p-1',
  policyRevision: '7',
  bundleDigest: 'ab'.repeat(32),
  contentProfile: 'gateway-1.5.0-chat-webhook-v2',
  maxBodyBytes: 4_096,
  maxMessages: 8,
  deadlineMs: { request: 3_000, response: 3_000 },
  division: { allowed: true },
};

let client: CheckClient;
let runtime: ScriptedRuntime;
let guard: StorageGuard;
let caller: ReturnType<typeof createStoringService>;

beforeEach(async () => {
  client = createCheckClient({ tokenFile: testToken, slackMs: 100 });
  runtime = await startScriptedRuntime(answerWith(200, passResult));
  guard = createStorageGuard({ checks: client, target: () => ({ ...served, addresses: [runtime.origin] }) });
  caller = createStoringService(guard);
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
    expect(await caller.submit(letter)).toMatchObject({ kind: 'passed' });
    expect(caller.store.get('doc-17')).toEqual(letter);
    expect(caller.find('ivan@example.com')).toEqual(['doc-17']);
  },
);

verifies(
  ['client:prepare:position-table', 'guardrail:text-only:caller-maps-results'],
  'field names of the caller are not sent with a check, and results map to fields by position',
  async () => {
    runtime.behave(masking);
    const texts = { body: 'to a@b.example', '10': 'ten', '2': 'two c@d.example' };
    await caller.submit({ ...letter, texts });
    expect(caller.store.get('doc-17')?.texts).toEqual({ body: 'to [email]', '10': 'ten', '2': 'two [email]' });
    expect(JSON.parse(runtime.received[0]?.body ?? '')).toEqual({
      // JavaScript orders names that are numbers first.
      body: { messages: [said('two c@d.example'), said('ten'), said('to a@b.example')] },
    });
  },
);

verifies(
  ['client:mask:original-not-stored', 'client:mask:original-not-indexed', 'guardrail:mask:replaces-checked-body-only'],
  'after a mask only the masked text is stored and indexed, and identifiers, access list and metadata are unchanged',
  async () => {
    runtime.behave(masking);
    expect(await caller.submit(letter)).toMatchObject({ kind: 'passed' });
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
  'a service stores and indexes nothing until a check returns a pass or a valid mask',
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
      expect(['denied', 'failed']).toContain((await caller.submit(letter)).kind);
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
  expect(await caller.submit(letter)).toMatchObject({ kind: 'denied' });
  expect(runtime.received).toHaveLength(1);
});

verifies(
  ['guardrail:execution:independent-decisions'],
  'a document that is submitted at the same time as a denied one is stored',
  async () => {
    runtime.behave((socket, { body }) => {
      const result = body.includes('text 3') ? denyResult : passResult;
      socket.write(rawAnswer(200, JSON.stringify(result)));
    });
    const documents = Array.from({ length: 10 }, (_, at) => ({ ...letter, id: `d${at}`, texts: { t: `text ${at}` } }));
    const decisions = await Promise.all(documents.map((document) => caller.submit(document)));
    expect(decisions.map(({ kind }) => kind)).toEqual(documents.map((_, at) => (at === 3 ? 'denied' : 'passed')));
    expect(caller.store.size).toBe(9);
    expect(runtime.received).toHaveLength(10);
  },
);
