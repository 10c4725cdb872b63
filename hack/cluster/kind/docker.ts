import { runClusterProgram } from '../process/run-program.ts';

/** Whether Docker runs on this machine and this user may use it. */
export async function dockerRuns(): Promise<boolean> {
  const asked = runClusterProgram('docker', ['info', '--format', '{{.ServerVersion}}']);
  return asked.then(
    (version) => version.trim() !== '',
    () => false,
  );
}
