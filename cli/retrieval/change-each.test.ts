import { expect, test } from 'vitest';
import type { CliError } from '../errors/cli-error.ts';
import { ServiceApiError, ServiceUnreachableError } from '../http/service-error.ts';
import { changeEach, refuseUnchanged } from './change-each.ts';

const refusal = (status: number, message: string) => new ServiceApiError(status, { code: 'c', message, traceId: 't' });
const lost = new ServiceUnreachableError('retrieval', 'http://service', new Error('reset'));

/** Changes objects that a service answers with `changed` or with an error. */
async function changed(answers: Readonly<Record<string, Error | 'changed'>>) {
  const asked: string[] = [];
  const result = await changeEach(Object.keys(answers), 'shared', async (id) => {
    asked.push(id);
    const answer = answers[id];
    if (answer instanceof Error) throw answer;
    return answer;
  });
  let end: CliError | undefined;
  try {
    refuseUnchanged(result, 'documents were not shared');
  } catch (error) {
    end = error as CliError;
  }
  return { asked, changes: result.changes, end: end === undefined ? undefined : [end.exit, end.message] };
}

test.each([400, 404, 409])(
  'an object that is refused with %s does not prevent the change of others',
  async (status) => {
    const { changes, end } = await changed({ a: 'changed', b: refusal(status, 'No.'), c: 'changed' });
    expect(changes).toEqual([
      { id: 'a', value: 'changed' },
      { id: 'b', reason: 'No.' },
      { id: 'c', value: 'changed' },
    ]);
    expect(end).toEqual(['failed', '1 of 3 documents were not shared.']);
  },
);

test.each([
  [
    'the connection is lost',
    lost,
    { reason: 'the connection was lost, and it may be shared: repeat the command', isUnknown: true },
    'not_running',
  ],
  ['the service is unavailable', refusal(503, 'Away.'), { reason: 'Away.' }, 'failed'],
])('when %s between two objects, earlier changes are kept and those that were not sent are named', async (...given) => {
  const [, error, unchanged, exit] = given;
  const { asked, changes, end } = await changed({ a: 'changed', b: error, c: 'changed' });
  expect(asked).toEqual(['a', 'b']);
  expect(changes).toEqual([
    { id: 'a', value: 'changed' },
    { id: 'b', ...unchanged },
    { id: 'c', reason: 'it was not sent' },
  ]);
  expect(end?.[0]).toBe(exit);
});

test('a change of a single object ends with the code of its refusal, or without an error if the object was changed', async () => {
  await expect(changed({ a: refusal(404, 'Absent.') })).rejects.toMatchObject({ exit: 'not_found' });
  expect(await changed({ a: 'changed' })).toMatchObject({ changes: [{ id: 'a', value: 'changed' }], end: undefined });
});
