import { writeFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';

// Preloaded into a process: on SIGUSR2 it writes the event-loop delay since the last signal, in milliseconds, including
// its own interval of 1 ms.
const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();

process.on('SIGUSR2', () => {
  const [p50, p99, max] = [delay.percentile(50), delay.percentile(99), delay.max].map((ns) => ns / 1e6);
  writeFileSync(process.env['LOOP_DELAY_FILE'] ?? '', JSON.stringify({ p50, p99, max }));
  delay.reset();
});
