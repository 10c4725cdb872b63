import { connectSql, type Database, passwordFrom } from '#sql/connect';
import { type CrashPlan, crashVariable } from '../support/crash-plan.ts';
import type { CrashSubmit } from './crash-documents.ts';

/** Settings of a crash test process, as JSON in PORTCULLIS_CRASH. */
export type CrashSettings = {
  readonly databaseUrl: string;
  readonly passwordFile: string;
  readonly collectionId: string;
  readonly plan?: CrashPlan;
  /** Share of embedding calls that fail because the models are unavailable. */
  readonly awayShare: number;
  /** Whether models accept every text. */
  readonly isHealed: boolean;
  /** Pause of a submitter between two batches of a lane, so that faults occur during submits; milliseconds. */
  readonly pauseMs: number;
  readonly submits: readonly CrashSubmit[];
};

export const crashTenant = 'crash';

export function crashSettings(): CrashSettings {
  return JSON.parse(process.env[crashVariable] ?? '') as CrashSettings;
}

/** A short statement timeout, so that a stopped process holds no lock for long. */
const statementTimeoutMs = 2_000;

export function openCrashDatabase({ databaseUrl, passwordFile }: CrashSettings, applicationName: string): Database {
  return connectSql({ url: databaseUrl, password: passwordFrom(passwordFile), applicationName, statementTimeoutMs });
}
