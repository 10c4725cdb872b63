import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { type Definition, detectorContract, type Section } from '#contracts/policy';
import type { ProvidersFile } from '#contracts/providers';
import { type Folder, folderWithFiles, runInProcess } from '../../cli/testing/run-cli.ts';
import { bindingObject, policyObject, sectionOf } from '../../operator/testing/objects.ts';
import { chatCall } from '../support/chat-call.ts';
import { startDetector } from '../support/start-detector.ts';
import { type Platform, startPlatform } from '../support/start-platform.ts';

/** The stage whose section has the rule; the model has the same name. */
type Stage = 'request' | 'response';

/** A text that a client sends, and that the built-in provider repeats as its answer. */
export type TriedText = { readonly stage: Stage; readonly content: string; readonly expect: 'allow' | 'deny' };

type DetectorTrial = {
  /** The adapter, a file of examples/detectors. */
  readonly file: string;
  readonly python: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly texts: readonly TriedText[];
};

/** Longest wait for a policy that is applied. */
const applySeconds = 300;

/**
 * Runs an adapter with the library of the given Python, and sends texts through a gateway with a rule that calls the
 * adapter. Returns the faults: texts whose decision was not the expected one, and texts that the adapter wrote into its
 * log.
 */
export async function tryDetector({ file, python, environment, texts }: DetectorTrial): Promise<readonly string[]> {
  const token = randomBytes(16).toString('hex');
  await using detector = await startDetector(file, { python, token, environment });
  await using platform = await startPlatform();
  using folder = folderWithFiles();
  approve(platform, detector.endpoint, token);
  for (const stage of ['request', 'response'] as const) await guard(platform, folder, stage);
  const faults: string[] = [];
  const call = { url: platform.status().addresses.gateway, key: platform.key, stream: false };
  for (const { stage, content, expect } of texts) {
    const { status, text, error } = await chatCall({ ...call, model: stage, content });
    const isAllowed = status === 200 && text.includes(content);
    const isDenied = status === 403 && error?.type === 'guardrail_blocked' && text === '';
    if (expect === 'allow' ? isAllowed : isDenied) continue;
    faults.push(`${stage} ${JSON.stringify(content)}: status ${status} ${error?.code ?? ''}, expected ${expect}`);
  }
  const [refused] = await detector.ask('a text with another token', { token: 'another' });
  if (refused !== 401) faults.push(`another token: status ${refused}`);
  const logged = texts.filter(({ content }) => detector.output().includes(content));
  return [...faults, ...logged.map(({ content }) => `the log of the adapter has ${JSON.stringify(content)}`)];
}

/** Adds the detector to the approved providers, with the secret that both know. */
function approve({ data }: Platform, endpoint: string, token: string): void {
  writeFileSync(join(data, 'secrets/judge'), token, { mode: 0o600 });
  const list = join(data, 'providers.yaml');
  const { providers } = parse(readFileSync(list, 'utf8')) as ProvidersFile;
  const added: ProvidersFile = {
    providers: [...providers, { name: 'judge', kind: 'detector', endpoint, credential: 'judge' }],
  };
  writeFileSync(list, stringify(added));
}

/** Applies a policy and a binding of the name of the stage. */
async function guard({ data }: Platform, folder: Folder, stage: Stage): Promise<void> {
  const policyRef = { name: stage, revision: 1 };
  const objects = [
    policyObject(stage, { definition: definitionFor(stage) }),
    bindingObject(stage, { guardrail: { mode: 'Policy', policyRef } }),
  ];
  const manifest = folder.write(`${stage}.yaml`, objects.map((object) => stringify(object)).join('---\n'));
  const { code, stderr } = await runInProcess(['apply', '-f', manifest, '--wait', String(applySeconds)], { data });
  if (code !== 0) throw new Error(`the policy for the ${stage} was not applied: ${stderr}`);
}

/** A definition in which the section of the stage calls the detector, with timeouts for a busy machine. */
function definitionFor(stage: Stage): Definition {
  const plain = sectionOf('a word of no text');
  const asks: Section['additional'][number] = {
    id: 'asks',
    kind: 'external_pipeline',
    mode: 'enforce',
    timeoutMs: 4_500,
    action: { type: 'deny' },
    externalPipeline: { provider: 'judge', contract: detectorContract },
  };
  const asking: Section = { ...plain, deadlineMs: 5_000, additional: [asks] };
  return {
    request: stage === 'request' ? asking : plain,
    response: stage === 'response' ? asking : plain,
    providers: [{ name: 'judge', credentialRef: { name: 'judge' } }],
  };
}
