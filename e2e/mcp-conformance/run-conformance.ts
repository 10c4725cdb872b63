import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import type { ReportedCheck } from './compare-checks.ts';

type FileCheck = {
  readonly id: string;
  readonly status: string;
  readonly errorMessage?: string;
  readonly details?: { readonly message?: string };
};

/** The checks of every scenario, each in a folder server-SCENARIO-TIME. */
function readChecks(folder: string): readonly ReportedCheck[] {
  return globSync(join(folder, '*/checks.json')).flatMap((file) => {
    const scenario = /^server-(.+)-\d{4}-\d\d-\d\dT/.exec(basename(dirname(file)))?.[1] ?? basename(dirname(file));
    const checks = JSON.parse(readFileSync(file, 'utf8')) as readonly FileCheck[];
    return checks.map(({ id, status, errorMessage, details }) => {
      return { scenario, id, status, message: errorMessage ?? details?.message ?? '' };
    });
  });
}

/**
 * Runs every scenario of a conformance suite against a server, and reads its report.
 * @param suite main file of the suite
 * @param url endpoint of the server
 */
export async function runConformance(
  suite: string,
  url: string,
  more: readonly string[] = [],
): Promise<readonly ReportedCheck[]> {
  using folder = temporaryFolder();
  const args = [suite, 'server', '--url', url, '--suite', 'all', '--output-dir', folder.path, ...more];
  await once(spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] }), 'close');
  return readChecks(folder.path);
}
