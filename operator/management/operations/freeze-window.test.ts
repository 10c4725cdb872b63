import { expect, test } from 'vitest';
import { freezeWindow } from './freeze-window.ts';

const now = new Date('2026-03-01T12:00:00.000Z');

test('a freeze window without a start begins now, and must end after its start and after the present', () => {
  expect(freezeWindow({ endsAt: '2026-03-01T12:00:00.001Z' }, now)).toEqual({
    ok: true,
    window: { startsAt: '2026-03-01T12:00:00.000Z', endsAt: '2026-03-01T12:00:00.001Z' },
  });
  expect(freezeWindow({ endsAt: '2026-03-01T12:00:00Z' }, now)).toEqual({
    ok: false,
    problem: { path: '/endsAt', message: 'must not be in the past' },
  });
  const later = '2026-03-01T12:00:00.001Z';
  expect(freezeWindow({ startsAt: later, endsAt: later }, now)).toMatchObject({
    ok: false,
    problem: { message: 'must be after the start' },
  });
  const past = { startsAt: '2026-02-01T00:00:00Z', endsAt: '2026-03-01T12:00:00Z' };
  expect(freezeWindow(past, now)).toMatchObject({ ok: false, problem: { message: 'must not be in the past' } });
  expect(freezeWindow({ ...past, endsAt: '2026-03-01T12:00:01Z' }, now)).toMatchObject({ ok: true });
});

test('a freeze window lasts 90 days at most', () => {
  const startsAt = '2026-03-02T00:00:00Z';
  expect(freezeWindow({ startsAt, endsAt: '2026-05-31T00:00:00Z' }, now)).toMatchObject({ ok: true });
  expect(freezeWindow({ startsAt, endsAt: '2026-05-31T00:00:00.001Z' }, now)).toEqual({
    ok: false,
    problem: { path: '/endsAt', message: 'must be at most 90 days after the start' },
  });
});
