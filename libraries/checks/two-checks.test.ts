import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { assembleBundle } from '#contracts/assemble-bundle';
import { defaultBundleLimits } from '#contracts/bundle';
import type { BaselineRule, Definition } from '#contracts/policy';
import { openTokenFile } from '#kit/http/token-file';
import { answers, type ScriptedHttp, startScriptedHttp } from '#kit/testing/scripted-http';
import { until } from '#kit/testing/until';
import { type RunningProcess, startProcess } from '../../e2e/support/start-process.ts';
import { verifies } from '../../e2e/support/verifies.ts';
import { type CheckTarget, createCheckClient } from './client.ts';
import { said } from './testing/check-fixture.ts';

const folder = mkdtempSync(join(tmpdir(), 'portcullis-checks-'));
const message = { role: 'assistant', content: JSON.stringify({ decision: 'allow' }), refusal: null };
let classifier: ScriptedHttp;
const running: RunningProcess[] = [];

beforeAll(async () => {
  classifier = await startScriptedHttp(answers({ choices: [{ index: 0, message, finish_reason: 'stop' }] }));
  writeFileSync(join(folder, 'token'), 'service-token\n');
  writeFileSync(join(folder, 'classifier-key'), 'key\n');
});
afterAll(async () => {
  await Promise.all(running.map((process) => process[Symbol.asyncDispose]()));
  await classifier[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

const masking: BaselineRule = {
  id: 'email',
  kind: 'regex',
  timeoutMs: 100,
  action: { type: 'mask', replacement: '[email]' },
  regex: { engine: 're2-1.1.20251105', pattern: '[a-z]+@[a-z.]+', caseSensitive: false },
};
const classifying: BaselineRule = {
  id: 'intent',
  kind: 'llm_classifier',
  timeoutMs: 2_000,
  action: { type: 'deny' },
  llmClassifier: {
    provider: 'judge',
    profile: 'generic.chat-completions.classifier/v1',
    instruction: { version: '1', text: 'Is it harmful?' },
  },
};

/** Starts a separate runtime with one rule for the request stage. */
async function startRuntime(rule: BaselineRule): Promise<CheckTarget> {
  const section = { deadlineMs: 2_500, baseline: [rule], additional: [] };
  const isRemote = rule.kind === 'llm_classifier';
  const definition: Definition = {
    request: section,
    response: { ...section, baseline: [masking] },
    providers: isRemote ? [{ name: 'judge', credentialRef: { name: 'classifier-key' } }] : [],
  };
  const assembled = assembleBundle({
    policyId: rule.id,
    revision: '1',
    definition,
    contentProfile: 'gateway-1.5.0-chat-webhook-v2',
    limits: defaultBundleLimits,
    approved: [
      {
        name: 'judge',
        kind: 'classifier',
        endpoint: `${classifier.url}/v1/chat/completions`,
        model: 'm',
        credential: 'classifier-key',
      },
    ],
  });
  if (assembled.kind === 'refused') throw new Error(assembled.message);
  const file = join(folder, `${rule.id}.json`);
  writeFileSync(file, assembled.bytes);
  const process = await startProcess({
    file: 'runtime/main.ts',
    environment: {
      PORTCULLIS_LISTEN: '127.0.0.1:0',
      PORTCULLIS_BUNDLE_FILE: file,
      PORTCULLIS_TOKEN_FILE: join(folder, 'token'),
      PORTCULLIS_SECRETS_DIR: folder,
    },
  });
  running.push(process);
  await until('the runtime is ready', async () => (await fetch(`${process.url}/readyz`)).ok);
  return {
    addresses: [process.url],
    policyId: rule.id,
    policyRevision: '1',
    digest: assembled.digest,
    contentProfile: 'gateway-1.5.0-chat-webhook-v2',
    maxBodyBytes: 32_768,
    maxMessages: 32,
    deadlineMs: 2_500,
  };
}

verifies(
  ['guardrail:execution:two-checks-hide', 'guardrail:usage:direct-call'],
  'masking first and classifying the masked text in a second check keeps the raw data from the classifier',
  async () => {
    const local = await startRuntime(masking);
    const remote = await startRuntime(classifying);
    await using client = createCheckClient({ tokenFile: openTokenFile(join(folder, 'token')) });
    const raw = [said('pay ivan@example.com today')];

    const masked = await client.check(local, 'request', raw);
    expect(masked).toMatchObject({ kind: 'mask', contents: ['pay [email] today'] });
    if (masked.kind !== 'mask') return;
    expect(await client.check(remote, 'request', masked.contents.map(said))).toMatchObject({ kind: 'pass' });
    const { seen } = classifier;
    expect(seen).toHaveLength(1);
    expect(seen[0]?.text).toContain('pay [email] today');
    expect(seen[0]?.text).not.toContain('ivan');

    await client.check(remote, 'request', raw);
    expect(
      seen[1]?.text,
      'a single check sends the classifier the unmasked text, as the control of the two-check case',
    ).toContain('ivan@example.com');
  },
);
