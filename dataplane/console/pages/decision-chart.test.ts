import { expect, test } from 'vitest';
import { en } from '../words/en.ts';
import { decisionCharts, lastMinutes } from './decision-chart.ts';

const now = new Date('2026-01-01T12:59:30.000Z');
const none = { passed: 0, masked: 0, denied: 0, check_failed: 0 };
const draw = async (items: Parameters<typeof decisionCharts>[1]['items']) =>
  String(await decisionCharts({ words: en, language: 'en' }, { items, missing: [] }, now));

test('the minutes of a chart are the last 60, the current one included', () => {
  const minutes = lastMinutes(now);
  expect([minutes.length, minutes[0], minutes.at(-1)]).toEqual([
    60,
    '2026-01-01T12:00:00.000Z',
    '2026-01-01T12:59:00.000Z',
  ]);
});

test('each outcome of a minute is a bar above the one before, and minutes outside of the hour have none', async () => {
  const drawn = await draw([
    { ...none, time: '2026-01-01T12:59:00.000Z', model: 'm', passed: 3, denied: 1 },
    { ...none, time: '2026-01-01T11:00:00.000Z', model: 'm', passed: 2 },
  ]);
  const bars = [...drawn.matchAll(/<rect class="(\w+)" x="([\d.]+)" y="([\d.]+)" width="[\d.]+" height="([\d.]+)"/g)];
  expect(bars.map(([, outcome, , y, height]) => [outcome, Number(y), Number(height)])).toEqual([
    ['passed', 16, 48],
    ['denied', 0, 16],
  ]);
});

test('masked requests and failed checks have their own bars, totals and links', async () => {
  const minute = { ...none, time: '2026-01-01T12:59:00.000Z', model: 'm' };
  const drawn = await draw([{ ...minute, passed: 1, masked: 2, denied: 1, check_failed: 4 }]);
  const bars = [...drawn.matchAll(/<rect class="(\w+)" x="[\d.]+" y="[\d.]+" width="[\d.]+" height="([\d.]+)"/g)];
  expect(bars.map(([, outcome, height]) => [outcome, Number(height)])).toEqual([
    ['passed', 8],
    ['masked', 16],
    ['denied', 8],
    ['check_failed', 32],
  ]);
  expect([...drawn.matchAll(/outcome=(\w+)">([^<]*)</g)].map(([, outcome, total]) => [outcome, total])).toEqual([
    ['passed', 'Passed: 1'],
    ['masked', 'Masked: 2'],
    ['denied', 'Denied: 1'],
    ['check_failed', 'Check failed: 4'],
  ]);
  expect(drawn).toContain('/runbooks/checks-fail');
  expect(await draw([{ ...minute, passed: 1, masked: 2 }])).not.toContain('/runbooks/checks-fail');
});

test('an alias is text of the page', async () => {
  const drawn = await draw([{ ...none, time: '2026-01-01T12:59:00.000Z', model: '<b>"x', passed: 1 }]);
  expect(drawn).not.toContain('<b>');
  expect(drawn).toContain('&lt;b&gt;&quot;x');
});

test('the busiest models are drawn, and the number of the others is named', async () => {
  const items = Array.from({ length: 14 }, (_, at) => ({
    ...none,
    time: '2026-01-01T12:59:00.000Z',
    model: `model-${at}`,
    passed: at + 1,
  }));
  const drawn = await draw(items);
  expect([...drawn.matchAll(/<svg/g)]).toHaveLength(12);
  expect(drawn).toContain(en.counts.more(2));
  expect(drawn).not.toContain('<strong>model-1</strong>');
});

test('a replica that does not answer is named', async () => {
  const missing = [{ replica: 'gateway-1', reason: 'does not answer' }];
  const drawn = String(await decisionCharts({ words: en, language: 'en' }, { items: [], missing }, now));
  expect(drawn).toContain('gateway-1: does not answer');
  expect(drawn).toContain(en.counts.none);
});
