import { connectSql, type Database, passwordFrom } from '#sql/connect';
import type { CrashSubmit } from './crash-documents.ts';

/** What a process of a crash test is started with, as JSON in PORTCULLIS_CRASH. */
export type CrashSettings = {
  readonly databaseUrl: string;
  readonly passwordFile: string;
  readonly objectsFolder: string;
  readonly collectionId: string;
  /** The signal that a process sends to itself after the given occurrence of a step. */
  readonly plan?: { readonly step: string; readonly occurrence: number; readonly signal: 'SIGKILL' | 'SIGSTOP' };
  /** Share of embedding calls that find no models. */
  readonly awayShare: number;
  /** Whether models accept every text. */
  readonly isHealed: boolean;
  /** Pause of a submitter between two batches of a lane, so that faults meet submits, milliseconds. */
  readonly pauseMs: number;
  readonly submits: readonly CrashSubmit[];
};

export const crashTenant = 'crash';
export const crashVariable = 'PORTCULLIS_CRASH';

export function crashSettings(): CrashSettings {
  return JSON.parse(process.env[crashVariable] ?? '') as CrashSettings;
}

/** A statement that hangs ends soon, so that a stopped process holds no lock for long. */
const statementTimeoutMs = 2_000;

export function openCrashDatabase({ databaseUrl, passwordFile }: CrashSettings, applicationName: string): Database {
  return connectSql({ url: databaseUrl, password: passwordFrom(passwordFile), applicationName, statementTimeoutMs });
}

/** Sends the planned signal when its step has occurred often enough. */
export function planFollower({ plan }: CrashSettings): (step: string) => void {
  let seen = 0;
  return (step) => {
    if (plan === undefined || step !== plan.step) return;
    seen += 1;
    if (seen !== plan.occurrence) return;
    process.stdout.write(`${JSON.stringify({ reached: step })}\n`);
    process.kill(process.pid, plan.signal);
  };
}

/** A process of a crash test ends with its parent. */
export function endWithParent(): void {
  process.stdin.resume().on('end', () => process.exit(0));
}
