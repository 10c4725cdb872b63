import { expect, test } from 'vitest';
import { en } from '../words/en.ts';
import { decisionCharts, lastMinutes } from './decision-chart.ts';

const now = new Date('2026-01-01T12:59:30.000Z');
const firstPlace = { attention: 1, models: 1, charts: 1, find: '' };
const none = { passed: 0, masked: 0, denied: 0, check_failed: 0 };
const draw = async (items: Parameters<typeof decisionCharts>[1]['items'], charts = 1) =>
  String(
    await decisionCharts(
      { words: en, language: 'en' },
      { items, missing: [] },
      { now, place: { ...firstPlace, charts } },
    ),
  );

test('the minutes of a chart are the last 60, the current one included', () => {
  const minutes = lastMinutes(now);
  expect([minutes.length, minutes[0], minutes.at(-1)]).toEqual([
    60,
    '2026-01-01T12:00:00.000Z',
    '2026-01-01T12:59:00.000Z',
  ]);
});

test('each outcome of a minute is a bar above the previous bar, and minutes outside of the hour have no bar', async () => {
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

const modelsWithDecisions = (count: number) =>
  Array.from({ length: count }, (_, at) => ({
    ...none,
    time: '2026-01-01T12:59:00.000Z',
    model: `model-${at}`,
    passed: at + 1,
  }));
const drawnModels = (drawn: string) => [...drawn.matchAll(/<strong>(.*?)<\/strong>/g)].map(([, model]) => model);
const linksIn = (drawn: string) => [...drawn.matchAll(/href="(\/overview[^"]*)"/g)].map(([, path]) => path);

test('charts of twelve models are one page without links, and the thirteenth model is on the second page', async () => {
  const one = await draw(modelsWithDecisions(12));
  expect([drawnModels(one).length, linksIn(one)]).toEqual([12, []]);
  const first = await draw(modelsWithDecisions(13));
  expect([drawnModels(first).length, drawnModels(first)[0]]).toEqual([12, 'model-12']);
  expect(linksIn(first)).toEqual(['/overview?charts=2']);
  expect(first).toContain(en.counts.shown(1, 12, 13));
  const second = await draw(modelsWithDecisions(13), 2);
  expect(drawnModels(second)).toEqual(['model-0']);
  expect(linksIn(second)).toEqual(['/overview']);
  expect(second).toContain(en.counts.shown(13, 13, 13));
});

test('a page of charts in the middle has links in both directions, and a page number after the last page shows the last page', async () => {
  expect(linksIn(await draw(modelsWithDecisions(25), 2))).toEqual(['/overview', '/overview?charts=3']);
  expect(drawnModels(await draw(modelsWithDecisions(25), 9))).toEqual(['model-0']);
  expect(await draw([], 2)).toContain(en.counts.none);
});

test('a replica that does not answer is named below the chart', async () => {
  const missing = [{ replica: 'gateway-1', reason: 'does not answer' }];
  const drawn = String(
    await decisionCharts({ words: en, language: 'en' }, { items: [], missing }, { now, place: firstPlace }),
  );
  expect(drawn).toContain('gateway-1: does not answer');
  expect(drawn).toContain(en.counts.none);
});
