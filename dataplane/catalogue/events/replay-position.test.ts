import { expect, test } from 'vitest';
import { readReplayPosition } from './replay-position.ts';

const agentId = '01890a5d-ac96-774b-bcce-b302099a8091';

test('a replay begins at a time with a time zone, or at a number of the events of one agent', () => {
  expect(readReplayPosition(['since', '2026-11-27T08:00:00Z'])).toEqual({
    kind: 'moment',
    since: new Date('2026-11-27T08:00:00Z'),
  });
  expect(readReplayPosition(['since', '2026-11-27T08:00+02:00'])).toMatchObject({
    since: new Date('2026-11-27T06:00:00Z'),
  });
  for (const number of ['3', '0000000000000000003']) {
    const position = readReplayPosition(['agent', agentId.toUpperCase(), number]);
    expect(position).toEqual({ kind: 'agent', agentId, sequence: 3n });
  }
  const largest = `0${'9'.repeat(18)}`;
  expect(readReplayPosition(['agent', agentId, largest])).toMatchObject({ sequence: BigInt(largest) });
});

test.each([
  [[]],
  [['since']],
  [['since', 'yesterday']],
  [['since', '2026-11-27']],
  [['since', '2026-13-27T08:00:00Z']],
  [['since', '2026-11-27T08:00:00Z', 'more']],
  [['agent', agentId]],
  [['agent', agentId, '0']],
  [['agent', agentId, '0'.repeat(19)]],
  [['agent', agentId, `1${'0'.repeat(18)}`]],
  [['agent', agentId, `${'0'.repeat(19)}3`]],
  [['agent', agentId, '1', '2']],
  [['agent', 'assistant', '1']],
  [['all']],
])('the words %j name no position of a replay, and the answer lists the valid forms', (words) => {
  expect(readReplayPosition(words)).toMatch(/^Name where the replay begins: /);
});
