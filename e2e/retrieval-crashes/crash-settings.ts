import { connectSql, type Database, passwordFrom } from '#sql/connect';
import { type CrashPlan, crashVariable } from '../support/crash-plan.ts';
import type { CrashSubmit } from './crash-documents.ts';

/** What a process of a crash test is started with, as JSON in PORTCULLIS_CRASH. */
export type CrashSettings = {
  readonly databaseUrl: string;
  readonly passwordFile: string;
  readonly objectsFolder: string;
  readonly collectionId: string;
  readonly plan?: CrashPlan;
  /** Share of embedding calls that find no models. */
  readonly awayShare: number;
  /** Whether models accept every text. */
  readonly isHealed: boolean;
  /** Pause of a submitter between two batches of a lane, so that faults meet submits, milliseconds. */
  readonly pauseMs: number;
  readonly submits: readonly CrashSubmit[];
};

export const crashTenant = 'crash';

export function crashSettings(): CrashSettings {
  return JSON.parse(process.env[crashVariable] ?? '') as CrashSettings;
}

/** A statement that hangs ends soon, so that a stopped process holds no lock for long. */
const statementTimeoutMs = 2_000;

export function openCrashDatabase({ databaseUrl, passwordFile }: CrashSettings, applicationName: string): Database {
  return connectSql({ url: databaseUrl, password: passwordFrom(passwordFile), applicationName, statementTimeoutMs });
}
