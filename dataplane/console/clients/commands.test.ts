import { expect, test } from 'vitest';
import type { ApiAnswer, Call } from './call-api.ts';
import { runPolicyCommand } from './commands.ts';
import type { ManagementApi } from './management-api.ts';

const operation = { operationId: 'o', kind: 'policy.create', error: null, target: { kind: 'policy', id: 'p' } };
const running = { kind: 'value', value: { ...operation, state: 'running' }, etag: undefined } as const;
const succeeded = { kind: 'value', value: { ...operation, state: 'succeeded' }, etag: undefined } as const;
const refused = (status: number) => ({ kind: 'refused', status, code: 'c', message: 'm' }) as const;

/** A management API that returns these answers one after another; the last answer is repeated. */
function answering(answers: readonly unknown[]) {
  const sent: (Call | undefined)[] = [];
  const api = {
    async call(_path: string, _schema: unknown, call?: Call): Promise<ApiAnswer<unknown>> {
      sent.push(call);
      return (answers[sent.length - 1] ?? answers.at(-1)) as ApiAnswer<unknown>;
    },
  };
  return { api: api as unknown as ManagementApi, sent };
}

const command = { method: 'POST', body: {} } as const;

test.each([{ kind: 'away' }, refused(503), refused(429)])(
  'a command that was accepted is awaited through the answer %o about it',
  async (passing) => {
    const { api, sent } = answering([running, passing, succeeded]);
    expect(await runPolicyCommand(api, '/p', command)).toEqual(succeeded);
    expect(sent).toHaveLength(3);
  },
);

test('a refusal of the state of a command, as of an ended session, ends the wait for it', async () => {
  const { api, sent } = answering([running, refused(401), succeeded]);
  expect(await runPolicyCommand(api, '/p', command)).toEqual(refused(401));
  expect(sent).toHaveLength(2);
});

test('a command has the idempotency key of its form, or a new key without one', async () => {
  const keysOf = async (key: string | undefined) => {
    const { api, sent } = answering([succeeded]);
    await runPolicyCommand(api, '/p', { ...command, key });
    return sent.map((call) => call?.headers?.['idempotency-key']);
  };
  expect(await keysOf('k')).toEqual(['k']);
  const [one, other] = [await keysOf(undefined), await keysOf(undefined)];
  expect(one).not.toEqual(other);
  expect(one[0]).toMatch(/^[0-9a-f-]{36}$/);
});
