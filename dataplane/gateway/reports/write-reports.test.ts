import { describe, expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import type { GatewayReportSpec } from '#resources/gateway-report';
import { buildReport, isNews } from './build-report.ts';
import { writeReports } from './write-reports.ts';

const facts = {
  gateway: 'default',
  bootId: '0190a5d4-7f3a-7cc2-9b1e-8d3f5a6b7c01',
  ready: false,
  appliedThrough: '7',
  state: { taken: [], pending: [], rejected: [] },
  inUse: [],
  providers: [],
};
const silent = { info: () => undefined, warn: () => undefined };

describe('a report', () => {
  test('a gateway report does not depend on the order in which its content was collected', () => {
    const pending = [
      { route: 'b', uid: '2', version: '4' },
      { route: 'a', uid: '1', version: '5' },
    ];
    const one = buildReport({ ...facts, state: { ...facts.state, pending } });
    const other = buildReport({ ...facts, state: { ...facts.state, pending: pending.toReversed() } });
    expect(one).toEqual(other);
  });

  test('a report is written again when its content or a route of the gateway changed', () => {
    const written = buildReport(facts);
    const later = buildReport({ ...facts, appliedThrough: '9' });
    expect(isNews(written, undefined, false)).toBe(true);
    expect(isNews(written, written, true)).toBe(false);
    expect(isNews(later, written, false)).toBe(false);
    expect(isNews(later, written, true)).toBe(true);
    expect(isNews(buildReport({ ...facts, ready: true }), written, false)).toBe(true);
  });
});

describe('the writer', () => {
  test('a failed report is retried with the newest facts, and an unchanged report is not written', async () => {
    const attempts: GatewayReportSpec[] = [];
    let through = '1';
    let failures = 2;
    await using writer = writeReports({
      logger: silent,
      build: () => buildReport({ ...facts, ready: true, appliedThrough: through }),
      sink: {
        write: async (report) => {
          attempts.push(report);
          failures -= 1;
          if (failures >= 0) {
            through = '2';
            throw new Error('unreachable');
          }
        },
      },
    });
    writer.changed(true);
    await writer.readyWritten;
    expect(attempts.map(({ appliedThrough }) => appliedThrough)).toEqual(['1', '2', '2']);
    through = '3';
    writer.changed(false);
    writer.changed(false);
    through = '4';
    writer.changed(true);
    await until('the next report', () => attempts.length > 3);
    expect(attempts.at(-1)?.appliedThrough).toBe('4');
    expect(attempts).toHaveLength(4);
  });
});
