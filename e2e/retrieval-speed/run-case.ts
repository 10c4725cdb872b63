import { fileURLToPath } from 'node:url';
import { runChild } from '#kit/process/run-child';
import type { SpeedCase, SpeedReport } from './case.ts';

const file = fileURLToPath(new URL('measure-process.ts', import.meta.url));

/** Measures one case in its own process. @throws if the process fails */
export async function runCase(given: SpeedCase): Promise<SpeedReport> {
  const { code, stdout, stderr } = await runChild(file, {
    input: JSON.stringify(given),
    // LanceDB warns of every query. With its default of one thread for each of two processors, a query waits for a thread
    // that waits for the query.
    env: { ...process.env, LANCE_LOG: 'error', RUST_LOG: 'error', LANCE_CPU_THREADS: '4' },
  });
  if (code !== 0) throw new Error(`${given.engine} over ${given.chunks} chunks failed: ${stderr.slice(-2_000)}`);
  return JSON.parse(stdout) as SpeedReport;
}
