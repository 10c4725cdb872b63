import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { answers, startScriptedHttp } from '#kit/testing/scripted-http';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import {
  policySection,
  type RunningPolicy,
  startPolicy,
  termRule,
} from '../../dataplane/gateway/testing/start-policy.ts';
import { createDocumentGuard } from '../../dataplane/retrieval/ingest/guard/document-guard.ts';
import { openStorageGuard } from '../../libraries/checks/guard/open-storage-guard.ts';
import type { ServedTarget } from '../../libraries/contracts/served-target.ts';
import { createLogger } from '../../libraries/kit/log/logger.ts';
import { detector as askingRule, providersAt } from '../../runtime/testing/build-bundle.ts';
import { allow } from '../../runtime/testing/provider-answers.ts';

/** A guard of documents with a real runtime, whose target file changes while it is used. */
const stack = new AsyncDisposableStack();
const folder = stack.use(temporaryFolder()).path;
const token = 'runtime-service-token';
const targetFile = join(folder, 'target.json');
const lines: string[] = [];
const refusals: boolean[] = [];
const scope = { tenant: 't', collectionId: 'c' };
const never = new AbortController().signal;
let policy: RunningPolicy;

const maxBodyBytes = 16_384;
const targetOf = (change: Partial<ServedTarget> = {}, { pin, contentProfile } = policy): ServedTarget => ({
  addresses: [...pin.addresses],
  policyId: pin.policyId,
  policyRevision: pin.policyRevision,
  bundleDigest: pin.digest,
  contentProfile,
  maxBodyBytes,
  maxMessages: 32,
  deadlineMs: { request: 1_000, response: 1_000 },
  division: { allowed: true },
  ...change,
});

async function write(target: ServedTarget): Promise<void> {
  await writeFile(`${targetFile}.new`, JSON.stringify(target));
  await rename(`${targetFile}.new`, targetFile);
}

const open = async (file = targetFile) => {
  const guard = await openStorageGuard({
    targetFile: file,
    tokenFile: join(folder, 'runtime.token'),
    onRefused: (isRefused) => refusals.push(isRefused),
    everyMs: 10,
    logger: createLogger({ service: 'test', level: 'info', destination: { write: (line) => lines.push(line) } }),
  });
  return { ...createDocumentGuard(guard), [Symbol.asyncDispose]: () => guard[Symbol.asyncDispose]() };
};

beforeAll(async () => {
  const mask = { type: 'mask', replacement: '[card]' } as const;
  const rules = [termRule('deny', ['forbidden phrase']), termRule('mask', ['4111 1111'], mask)];
  policy = stack.use(
    await startPolicy(
      folder,
      token,
      { request: policySection(rules), response: policySection() },
      { limits: { maxBodyBytes } },
    ),
  );
  await write(targetOf());
});
afterAll(() => stack.disposeAsync());

test('texts of a document are masked at any position, even in a text of many checks', async () => {
  await using guard = await open();
  const long = 'pay 4111 1111 or not, '.repeat(5_000);
  const texts = ['a title', '', 'card 4111 1111', 'plain words '.repeat(4_000), long];
  expect(await guard.check(scope, texts, never)).toEqual({
    kind: 'passed',
    texts: ['a title', '', 'card [card]', texts[3], 'pay [card] or not, '.repeat(5_000)],
    policyRevision: 'policy:1',
  });
});

test('a denied phrase at the end of a long text denies the document', async () => {
  await using guard = await open();
  const decision = await guard.check(scope, ['title', `${'plain words '.repeat(9_000)}forbidden phrase`], never);
  expect(decision).toEqual({ kind: 'denied', policyRevision: 'policy:1' });
});

test('a guard follows changes of its target: it is unavailable while the runtime refuses the target, and checks again after a correction', async () => {
  await using guard = await open();
  await write(targetOf({ policyRevision: '2' }));
  const refused = await until('the check is refused', () =>
    guard.check(scope, ['text'], never).then(
      () => undefined,
      (error: unknown) => error,
    ),
  );
  expect(refused).toMatchObject({ code: 'dependency_unavailable', dependency: 'guard', cause: 'policy_unavailable' });
  await write(targetOf());
  const judged = await until('the check passes', () => guard.check(scope, ['text'], never).catch(() => undefined));
  expect(judged).toMatchObject({ kind: 'passed' });
});

test('a target whose policy cannot judge documents is refused, at the start and as a change', async () => {
  await using guard = await open();
  await write(targetOf({ division: { allowed: false, rule: 'the rule begins' } }));
  await until('the change is refused', () => lines.some((line) => line.includes('guard_target_refused')));
  expect(await guard.check(scope, ['text'], never)).toMatchObject({ kind: 'passed' });
  await expect(open()).rejects.toThrow('because of the rule begins');
  expect(refusals.at(-1)).toBe(true);
  await write(targetOf());
  await until('the change is taken', () => refusals.at(-1) === false);
  expect(lines.join('')).not.toContain(token);
});

test('a document whose detector does not judge waits, and the error names rule, provider and cause until it judges', async () => {
  await using detector = await startScriptedHttp(answers({}, 401));
  const secrets = join(folder, 'secrets');
  await mkdir(secrets);
  await writeFile(join(secrets, 'provider.key'), 'key');
  const asking = policySection([{ ...askingRule('names'), timeoutMs: 500 }]);
  await using judged = await startPolicy(
    folder,
    token,
    { request: asking, response: asking },
    {
      limits: { maxBodyBytes },
      providers: providersAt(detector.url),
      environment: { PORTCULLIS_SECRETS_DIR: secrets },
    },
  );
  const file = join(folder, 'asking.json');
  await writeFile(file, JSON.stringify(targetOf({}, judged)));
  await using guard = await open(file);
  await expect(guard.check(scope, ['title', 'text of a person'], never)).rejects.toMatchObject({
    code: 'dependency_unavailable',
    dependency: 'guard',
    provider: { rule: 'names', provider: 'detector', cause: 'credential_refused' },
  });
  detector.play(allow);
  expect(await guard.check(scope, ['title', 'text of a person'], never)).toMatchObject({ kind: 'passed' });
  expect(lines.join('')).not.toContain('text of a person');
});
