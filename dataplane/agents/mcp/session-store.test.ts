import { expect, test } from 'vitest';
import { createFakeClock } from '#kit/testing/fake-clock';
import { type Session, SessionStore, sessionLimits } from './session-store.ts';

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

/** The sessions of this list that are still open. */
const left = (sessions: SessionStore, ...opened: readonly Session[]): readonly boolean[] =>
  opened.map(({ owner, id }) => sessions.find(owner, id) !== undefined);

test('above the limit of MCP sessions, the session that was idle for the longest time ends', () => {
  const sessions = new SessionStore(createFakeClock(), { kept: 2, ofOwner: 2 });
  const [first, second] = [sessions.open('ann'), sessions.open('bob')];
  expect(sessions.find('ann', first.id)).toBe(first);
  const third = sessions.open('cleo');
  expect(left(sessions, first, second, third)).toEqual([true, false, true]);
});

test('a caller who opens many MCP sessions ends only its own sessions', () => {
  const sessions = new SessionStore(createFakeClock());
  const other = sessions.open('ann');
  const own = Array.from({ length: sessionLimits.ofOwner }, () => sessions.open('bob'));
  expect(left(sessions, other, ...own).every((isLeft) => isLeft)).toBe(true);
  for (let count = 0; count < 2 * sessionLimits.kept; count += 1) own.push(sessions.open('bob'));
  expect(left(sessions, other, ...own).filter((isLeft) => isLeft)).toHaveLength(1 + sessionLimits.ofOwner);
  expect(left(sessions, other)).toEqual([true]);
});

test('an MCP session with a call in progress stays while another one can end, and else ends together with its calls', () => {
  const sessions = new SessionStore(createFakeClock(), { kept: 4, ofOwner: 2 });
  const [busy, idle] = [sessions.open('ann'), sessions.open('ann')];
  const call = new AbortController();
  busy.calls.set(1, call);
  const third = sessions.open('ann');
  expect([...left(sessions, busy, idle, third), call.signal.aborted]).toEqual([true, false, true, false]);
  third.calls.set(1, new AbortController());
  sessions.open('ann');
  expect(call.signal.aborted).toBe(true);
});
