import { expect, test } from 'vitest';
import { retryWithOtherPorts } from './retry-with-other-ports.ts';
import { StartFailure } from './supervise.ts';

const taken = (code: string) =>
  new StartFailure(
    'operator',
    'exited with code 1',
    `operator: cannot start: another process uses this port (${code})`,
  );

function failing(failures: readonly Error[]) {
  const left = [...failures];
  const said: string[] = [];
  const started = () => {
    const failure = left.shift();
    return failure === undefined ? Promise.resolve('started') : Promise.reject(failure);
  };
  return { said, left, result: retryWithOtherPorts(started, (sentence) => said.push(sentence)) };
}

test('a start whose port another program took is repeated with other ports', async () => {
  const { said, result } = failing([taken('port_in_use'), taken('address_taken')]);
  expect(await result).toBe('started');
  expect(said).toHaveLength(2);
  expect(said[0]).toContain('another process uses this port (port_in_use); starting again with other ports');
});

test('portcullis up fails when other programs take its ports three times in a row', async () => {
  const { left, result } = failing(Array.from({ length: 4 }, () => taken('port_in_use')));
  await expect(result).rejects.toThrow('port_in_use');
  expect(left).toHaveLength(1);
});

test('a start that fails for another reason is not repeated', async () => {
  const { left, said, result } = failing([
    new StartFailure('operator', 'exited with code 2', ''),
    taken('port_in_use'),
  ]);
  await expect(result).rejects.toThrow('exited with code 2');
  expect([left.length, said]).toEqual([1, []]);
});
