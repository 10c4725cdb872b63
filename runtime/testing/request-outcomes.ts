import type { BaselineRule } from '#contracts/policy';
import { bundleOf } from './build-bundle.ts';
import { startRuntime } from './start-runtime.ts';

/** The outcome of each text in a request: `pass`, `deny`, or the masked text. */
export async function requestOutcomes(
  rules: readonly BaselineRule[],
  texts: readonly string[],
): Promise<readonly string[]> {
  await using runtime = await startRuntime(bundleOf(rules));
  const results: string[] = [];
  for (const text of texts) {
    const { json } = await runtime.check('request', [text]);
    const content = json.action?.['body']?.['messages']?.['0']?.['content'];
    results.push({ policy_pass: 'pass', policy_denied: 'deny' }[String(json.action?.['reason'])] ?? String(content));
  }
  return results;
}
