/** The signal that a process of a crash test sends to itself after the given occurrence of a step. */
export type CrashPlan = {
  readonly step: string;
  readonly occurrence: number;
  readonly signal: 'SIGKILL' | 'SIGSTOP';
};

/** The environment variable with which a process of a crash test is started: its settings as JSON. */
export const crashVariable = 'PORTCULLIS_CRASH';

/** Sends the planned signal when its step has occurred often enough. */
export function planFollower(plan: CrashPlan | undefined): (step: string) => void {
  let seen = 0;
  return (step) => {
    if (plan === undefined || step !== plan.step) return;
    seen += 1;
    if (seen !== plan.occurrence) return;
    process.stdout.write(`${JSON.stringify({ reached: step })}\n`);
    process.kill(process.pid, plan.signal);
  };
}

/** Makes a process of a crash test end with its parent. */
export function endWithParent(): void {
  process.stdin.resume().on('end', () => process.exit(0));
}
