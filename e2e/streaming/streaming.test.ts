import { expect } from 'vitest';
import { verifies } from '../support/verifies.ts';
import { runStreaming } from './run-streaming.ts';

verifies(
  [
    'gateway:stream:window-1024',
    'gateway:stream:overlap-256',
    'gateway:output:deny-stream',
    'gateway:output:mask-stream',
    'gateway:events:blocked-on-mask-match',
  ],
  'no byte of a forbidden phrase leaves a gateway, however TCP, frames and characters are split, and clean streams arrive completely',
  async () => {
    const report = await runStreaming({ streams: 600, seed: 1, say: () => undefined });
    expect(report.violations).toEqual([]);
    expect(report.forbidden).toBe(480);
    expect(report.clean).toBe(60);
    expect(report.tokens).toBe(30);
    expect(report.words).toBe(30);
    expect(report.responses).toBeGreaterThan(200);
    expect(report.judgedOnRequest).toBe(200);
    // Clean streams of long words, in which a wrong cut produces a forbidden token.
    expect(report.falseStops).toBe(0);
    expect(report.lengths).toBeGreaterThan(150);
  },
);
