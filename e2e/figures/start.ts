import { familyOf, hasProcessTable, processMemory } from '#kit/testing/process-table';
import { chatCall } from '../support/chat-call.ts';
import type { Figure } from '../support/figure.ts';
import { startPlatform } from '../support/start-platform.ts';

const bound = 10;
const mebibyte = 1_048_576;

function memoryLine(pid: number): string {
  if (!hasProcessTable) return 'processes and memory are measured on Linux';
  const family = familyOf(pid);
  const sum = family.reduce((total, entry) => total + processMemory(entry.pid).proportional, 0);
  const parts = family.map((entry) => {
    const name =
      /(cli|operator|runtime|gateway|echo|postgres|issuer|management)\/main\.ts/.exec(entry.command)?.[1] ??
      (/\bpostgres\b/.test(entry.command) ? 'server' : 'other');
    return `${name} ${Math.round(processMemory(entry.pid).resident / mebibyte)}`;
  });
  return `${family.length} processes, ${Math.round(sum / mebibyte)} MiB in all (resident MiB: ${parts.join(', ')})`;
}

export const figure: Figure = {
  name: 'start',
  title: `npm start is ready within ${bound} s; processes and memory at rest`,
  run: async () => {
    // Starts the platform as npm start does, with the management API and its database.
    const begun = performance.now();
    await using platform = await startPlatform({ management: true });
    const seconds = (performance.now() - begun) / 1_000;
    const call = { url: platform.status().addresses.gateway, key: platform.key, model: 'guarded-echo', stream: true };
    const answer = await chatCall({ ...call, content: 'What is a portcullis?' });
    const memory = memoryLine(platform.pid);
    return {
      holds: seconds <= bound && answer.complete,
      line: `ready after ${seconds.toFixed(1)} s on an empty data directory; ${memory}`,
    };
  },
};
