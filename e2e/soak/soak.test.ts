import { expect, test } from 'vitest';
import { runSoak } from './run-soak.ts';

test('a soak test detects memory that a process leaks with each request', async () => {
  const report = await runSoak({
    warmUpSeconds: 4,
    seconds: 10,
    lookEverySeconds: 0.5,
    fillHistory: false,
    defects: ['e2e/isolation/leak-on-request.ts'],
    say: () => undefined,
  });
  expect(report.failed).toBe(0);
  // Requests of clients reach the gateway and its provider.
  for (const process of ['gateway-1', 'echo']) {
    expect(report.faults).toContainEqual(expect.stringMatching(new RegExp(`^live of ${process} grew by \\d+`)));
  }
});
