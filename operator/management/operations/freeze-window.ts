import { freezeLimits, type NewFreeze } from '#contracts/freezes';

type Window = { readonly startsAt: string; readonly endsAt: string };
type WindowResult =
  | { readonly ok: true; readonly window: Window }
  | { readonly ok: false; readonly problem: { readonly path: string; readonly message: string } };

const dayMs = 86_400_000;

/** The window that a body requests: from now if it has no start, and in whole milliseconds. */
export function freezeWindow({ startsAt, endsAt }: Pick<NewFreeze, 'startsAt' | 'endsAt'>, now: Date): WindowResult {
  const start = startsAt === undefined ? now : new Date(startsAt);
  const end = new Date(endsAt);
  const problem = problemOf(start, end, now);
  if (problem !== undefined) return { ok: false, problem: { path: '/endsAt', message: problem } };
  return { ok: true, window: { startsAt: start.toISOString(), endsAt: end.toISOString() } };
}

function problemOf(start: Date, end: Date, now: Date): string | undefined {
  if (end <= now) return 'must not be in the past';
  if (end <= start) return 'must be after the start';
  const tooLong = end.getTime() - start.getTime() > freezeLimits.days * dayMs;
  return tooLong ? `must be at most ${freezeLimits.days} days after the start` : undefined;
}
