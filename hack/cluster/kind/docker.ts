import { runProgram } from '../process/run-program.ts';

/** Whether Docker runs here and may be used by this user. */
export async function dockerRuns(): Promise<boolean> {
  const asked = runProgram('docker', ['info', '--format', '{{.ServerVersion}}']);
  return asked.then(
    (version) => version.trim() !== '',
    () => false,
  );
}
