import { expect, test } from 'vitest';
import { createFakeClock } from '#kit/testing/fake-clock';
import { SessionStore, sessionLimits } from './session-store.ts';

test('an MCP session is found by its owner until its idle timeout has passed', () => {
  const clock = createFakeClock();
  const sessions = new SessionStore(clock);
  const { id } = sessions.open('ann');
  expect(sessions.find('bob', id)).toBeUndefined();
  clock.advance(sessionLimits.idleMs);
  expect(sessions.find('ann', id)?.id).toBe(id);
  clock.advance(sessionLimits.idleMs + 1);
  expect(sessions.find('ann', id)).toBeUndefined();
});

test('above the limit of MCP sessions, the one that was idle for longest ends together with its calls', () => {
  const sessions = new SessionStore(createFakeClock(), 2);
  const [first, second] = [sessions.open('ann'), sessions.open('ann')];
  const call = new AbortController();
  second.calls.set(1, call);
  expect(sessions.find('ann', first.id)).toBe(first);
  const third = sessions.open('bob');
  expect(call.signal.aborted).toBe(true);
  expect([sessions.find('ann', first.id), sessions.find('ann', second.id), sessions.find('bob', third.id)]).toEqual([
    first,
    undefined,
    third,
  ]);
});
