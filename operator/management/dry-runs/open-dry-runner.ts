import { createJudge } from '../../bundles/run-judge.ts';
import { createDryRunner, type DryRunner } from './run-dry.ts';

const judgeFile = new URL('../../../runtime/judge.ts', import.meta.url).pathname;

/** @param secretsDirectory folder of provider credentials; without it no provider is called */
export function openDryRunner(
  secretsDirectory: string | undefined,
  environment: Parameters<typeof createDryRunner>[0]['environment'],
): DryRunner {
  const judge = createJudge({ file: judgeFile, secretsDirectory: secretsDirectory ?? '' });
  return createDryRunner({ judge, asksProviders: secretsDirectory !== undefined, environment });
}
