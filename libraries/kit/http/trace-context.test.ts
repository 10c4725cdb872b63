import { describe, expect, test } from 'vitest';
import { openTrace, readTraceParent, traceIdOf, writeTraceParent } from './trace-context.ts';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const parentId = '00f067aa0ba902b7';
const known = `${traceId}-${parentId}`;

describe('a traceparent', () => {
  test.each([
    ['of version 00', `00-${known}-01`, '01'],
    ['that is not sampled', `00-${known}-00`, '00'],
    ['with unknown flags', `00-${known}-fe`, '00'],
    ['of a later version with the same fields', `01-${known}-03`, '01'],
    ['of a later version with further fields', `fe-${known}-01-what-comes.next`, '01'],
  ])('the traceparent %s is read, and continued as version 00', (_what, header, flags) => {
    const parent = readTraceParent(header);
    expect(parent).toEqual({ traceId, parentId, flags });
    expect(parent && writeTraceParent(parent)).toBe(`00-${known}-${flags}`);
    expect(traceIdOf(header)).toBe(traceId);
    expect(openTrace(header)).toMatchObject({
      traceId,
      traceparent: expect.stringMatching(`^00-${traceId}-.{16}-${flags}$`),
    });
  });

  test.each([
    ['that is absent', undefined],
    ['of version ff', `ff-${known}-01`],
    ['of version 00 with a further field', `00-${known}-01-more`],
    ['of a later version with a further character', `01-${known}-01x`],
    ['in upper case', `00-${known.toUpperCase()}-01`],
    ['with a trace id of zeros', `00-${'0'.repeat(32)}-${parentId}-01`],
    ['with a parent id of zeros', `01-${traceId}-${'0'.repeat(16)}-01`],
    ['that is cut off', `01-${known}`],
    ['that was sent twice', [`00-${known}-01`, `00-${known}-01`]],
    ['that was sent twice and joined', `01-${known}-01-a, 01-${known}-01`],
  ])('the traceparent %s is invalid, and a new trace begins', (_what, header) => {
    expect(readTraceParent(header)).toBeUndefined();
    expect(traceIdOf(header)).toMatch(/^(?!0{32})[0-9a-f]{32}$/);
    expect(traceIdOf(header)).not.toBe(traceId);
    expect(openTrace(header).traceparent).toMatch(/^00-(?!4bf92f)[0-9a-f]{32}-[0-9a-f]{16}-00$/);
  });
});
