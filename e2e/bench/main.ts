// Usage: npm run bench [-- --quick]
import { measureChecks } from './checks.ts';

const quick = process.argv.includes('--quick');
const rows = await measureChecks({ rounds: quick ? 3 : 9, windowMs: quick ? 600 : 1_500, connections: 32 });
for (const { name, median, ratio, spread } of rows) {
  console.log(
    `${name.padEnd(8)} ${median.perSecond.toFixed(0).padStart(6)}/s  cpu ${median.cpuMicroseconds.toFixed(1)} us  ` +
      `p50 ${median.p50.toFixed(2)} p99 ${median.p99.toFixed(2)} ms  ratio ${ratio.throughput.toFixed(2)} ` +
      `(${spread[0].toFixed(2)}-${spread[1].toFixed(2)}) cpu ${ratio.cpu.toFixed(2)} p99 ${ratio.p99.toFixed(2)}`,
  );
}
