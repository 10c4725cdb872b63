import { writeFileSync } from 'node:fs';
import { createHistogram, monitorEventLoopDelay, type RecordableHistogram } from 'node:perf_hooks';

// Imported into a process before its own code. On SIGUSR2 it writes, in milliseconds since the last time, how late the
// event loop was (its own interval of 1 ms included), and how much of that the process itself computed: what other
// processes take from the processor is in the first and not in the second.
const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();
const computed: RecordableHistogram = createHistogram();
let last = process.threadCpuUsage();
setInterval(() => {
  const { user, system } = process.threadCpuUsage(last);
  last = process.threadCpuUsage();
  computed.record(Math.max(1, Math.round((user + system) * 1_000)));
}, 1).unref();

const inMs = (ns: number): number => ns / 1e6;

process.on('SIGUSR2', () => {
  const path = process.env['LOOP_DELAY_FILE'] ?? '';
  const figures = {
    p50: inMs(delay.percentile(50)),
    p99: inMs(delay.percentile(99)),
    max: inMs(delay.max),
    computedP99: inMs(computed.percentile(99)),
  };
  writeFileSync(path, JSON.stringify(figures));
  delay.reset();
  computed.reset();
});
