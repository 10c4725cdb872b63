import { runClusterProgram } from '../process/run-program.ts';

/** Whether Docker runs here and may be used by this user. */
export async function dockerRuns(): Promise<boolean> {
  const asked = runClusterProgram('docker', ['info', '--format', '{{.ServerVersion}}']);
  return asked.then(
    (version) => version.trim() !== '',
    () => false,
  );
}
