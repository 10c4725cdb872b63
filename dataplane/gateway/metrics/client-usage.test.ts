import { expect, test } from 'vitest';
import { createGatewayMetrics } from './gateway-metrics.ts';

test('tokens of a client are counted for each UTC day, and its budget is reported with them', async () => {
  let date = new Date('2026-05-01T23:59:00Z');
  const { clients, registry } = createGatewayMetrics({ date: () => date });
  const shown = async (name: string) =>
    (await registry.exposition())
      .split('\n')
      .filter((line) => line.startsWith(name))
      .map((line) => line.replace(/,?service="gateway",?/, ''));
  const day = () => shown('portcullis_gateway_client_day_tokens');
  const anna = { name: 'anna', dailyTokens: 1_000 };
  clients.ended(anna, 'passed', { input: 3, output: 4 });
  clients.ended(anna, 'denied', { input: 1, output: 0 });
  clients.ended({ name: undefined, dailyTokens: undefined }, 'passed', undefined);
  expect(await day()).toEqual(['portcullis_gateway_client_day_tokens{client="anna"} 8']);
  expect(await shown('portcullis_gateway_client_day_budget_tokens')).toEqual([
    'portcullis_gateway_client_day_budget_tokens{client="anna"} 1000',
  ]);
  expect((await shown('portcullis_gateway_client_requests_total')).sort()).toEqual([
    'portcullis_gateway_client_requests_total{client="anna",outcome="denied"} 1',
    'portcullis_gateway_client_requests_total{client="anna",outcome="passed"} 1',
    'portcullis_gateway_client_requests_total{client="unnamed",outcome="passed"} 1',
  ]);
  date = new Date('2026-05-02T00:00:00Z');
  clients.ended({ name: 'boris', dailyTokens: undefined }, 'passed', { input: 5, output: 0 });
  expect((await day()).sort()).toEqual([
    'portcullis_gateway_client_day_tokens{client="anna"} 0',
    'portcullis_gateway_client_day_tokens{client="boris"} 5',
  ]);
  expect((await shown('portcullis_gateway_client_tokens_total')).filter((line) => line.includes('"anna"'))).toEqual([
    'portcullis_gateway_client_tokens_total{client="anna",direction="input",source="reported"} 4',
    'portcullis_gateway_client_tokens_total{client="anna",direction="output",source="reported"} 4',
  ]);
});

test('the common series of clients beyond the first 200 falls to 0 at the end of the day, too', async () => {
  let date = new Date('2026-05-01T12:00:00Z');
  const { clients, registry } = createGatewayMetrics({ date: () => date });
  const day = async (name: string) =>
    new RegExp(`^portcullis_gateway_client_day_tokens\\{.*client="${name}".*\\} (\\d+)$`, 'm').exec(
      await registry.exposition(),
    )?.[1];
  const use = (at: number) =>
    clients.ended({ name: `c${at}`, dailyTokens: undefined }, 'passed', { input: 1, output: 1 });
  for (let at = 0; at < 202; at += 1) use(at);
  expect([await day('c199'), await day('other')]).toEqual(['2', '4']);
  date = new Date('2026-05-02T00:00:00Z');
  use(0);
  expect([await day('c0'), await day('c199'), await day('other')]).toEqual(['2', '0', '0']);
  use(200);
  expect(await day('other')).toBe('2');
});
