import { fileURLToPath } from 'node:url';
import { runChild } from '#kit/process/run-child';
import type { SpeedCase, SpeedReport } from './case.ts';

const file = fileURLToPath(new URL('measure-process.ts', import.meta.url));

/** Measures one case in a process of its own. @throws Error if the process fails */
export async function runCase(given: SpeedCase): Promise<SpeedReport> {
  const { code, stdout, stderr } = await runChild(file, {
    input: JSON.stringify(given),
    // LanceDB warns about every query. With its default of one thread per processor on two processors, a query waits
    // for a thread that waits for the query.
    env: { ...process.env, LANCE_LOG: 'error', RUST_LOG: 'error', LANCE_CPU_THREADS: '4' },
  });
  if (code !== 0) throw new Error(`${given.engine} over ${given.chunks} chunks failed: ${stderr.slice(-2_000)}`);
  return JSON.parse(stdout) as SpeedReport;
}
