import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Logger } from '#kit/log/logger';
import { createRequestLines, sampledLines } from './request-lines.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function open() {
  const lines: string[] = [];
  const info: Logger['info'] = (event, fields = {}) =>
    void lines.push(event === 'request_ended' ? `${fields['code']}` : `${event} ${fields['code']} ${fields['count']}`);
  const logger: Logger = {
    debug: () => undefined,
    info,
    warn: () => undefined,
    error: () => undefined,
    with: () => logger,
  };
  const requests = createRequestLines(logger, (code) => code === 'unauthenticated');
  const end = (code: string, times: number): void => {
    for (let time = 0; time < times; time++) requests.ended({ operation: 'read', code, seconds: 0.001, traceId: 't' });
  };
  return { lines, requests, end };
}

test('refusals within the limit of a window are all logged, and the number of further ones is logged at its end', () => {
  const { lines, requests, end } = open();
  end('unauthenticated', sampledLines.each - 1);
  expect(requests.isFull('unauthenticated')).toBe(false);
  end('unauthenticated', 1);
  expect([requests.isFull('unauthenticated'), requests.isFull('none')]).toEqual([true, false]);
  vi.advanceTimersByTime(sampledLines.windowMs);
  expect(lines.splice(0)).toEqual(Array.from({ length: sampledLines.each }, () => 'unauthenticated'));
  end('unauthenticated', sampledLines.each + 1);
  expect(lines.splice(0)).toHaveLength(sampledLines.each);
  vi.advanceTimersByTime(sampledLines.windowMs - 1);
  expect(lines).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(lines).toEqual(['requests_not_logged unauthenticated 1']);
});

test('requests that are not refused are all logged, and the last count is logged when the service ends', () => {
  const { lines, requests, end } = open();
  end('none', 3 * sampledLines.each);
  expect(lines.splice(0)).toHaveLength(3 * sampledLines.each);
  end('unauthenticated', sampledLines.each + 5);
  requests[Symbol.dispose]();
  expect(lines.at(-1)).toBe('requests_not_logged unauthenticated 5');
});
