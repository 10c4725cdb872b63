import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { type Bundle, bundleSchemaName, defaultBundleLimits } from '#contracts/bundle';
import { type BaselineRule, definitionSchema } from '#contracts/policy';
import { currentProfile } from '#contracts/profiles';
import { alias, type GuardedGateway, startGuardedGateway } from '../support/start-guarded-gateway.ts';

const pack = join(import.meta.dirname, '../../examples/rule-pack');

/** Rules of the pack's section for answers. */
function packRules(file: string, ids: readonly string[]): readonly BaselineRule[] {
  const { spec } = parse(readFileSync(join(pack, file), 'utf8'));
  const { baseline } = definitionSchema.parse(spec.definition).response;
  return ids.map((id) => {
    const found = baseline.find((rule) => rule.id === id);
    if (found === undefined) throw new Error(`the pack has no rule ${id}`);
    return found;
  });
}

const secretIds = ['json-web-token', 'private-key', 'url-with-password', 'kubeconfig-key'] as const;
const rules = [...packRules('secrets.yaml', secretIds), ...packRules('jailbreaks.yaml', ['image-in-answer'])];
const bundle: Bundle = {
  schema: bundleSchemaName,
  contentProfile: currentProfile,
  limits: defaultBundleLimits,
  policies: [
    {
      id: 'pack',
      revision: '1',
      request: { deadlineMs: 5_000, baseline: rules.slice(-1), additional: [] },
      response: { deadlineMs: 5_000, baseline: rules, additional: [] },
    },
  ],
  providers: [],
};

const base64 = (bytes: number): string => 'QUJDRGVm'.repeat(Math.ceil(bytes / 8)).slice(0, bytes);
const lines = (text: string): string => text.replace(/.{64}/g, '$&\n');

/**
 * Texts of about 2 KB of which no byte may be sent: they are longer than a window of 1,024 bytes and its overlap of
 * 256.
 */
const secrets = {
  'a JSON web token': `eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCJ9.eyJ${base64(1_200)}.${base64(800)}`,
  'a JSON web token with a certificate in its header': `eyJhbGciOiJSUzI1NiIsIng1YyI6${base64(900)}.eyJ${base64(600)}.${base64(500)}`,
  'a private key': `-----BEGIN RSA PRIVATE KEY-----\n${lines(base64(1_900))}\n-----END RSA PRIVATE KEY-----`,
  'a token of a kubeconfig': `token: ${base64(2_000)}`,
  'a URL with a password and a long path': `://ann:${base64(60)}@host.example/${base64(1_900)}`,
  'an image with a long path': `![chart](https://collect.example/${base64(2_000)})`,
  'an image with a long query': `![chart](https://collect.example/p.png?d=${base64(2_000)})`,
};
/** Offsets near the end of the first and the second window, and far from both. */
const offsets = [0, 300, 760, 900, 1_015, 1_023, 1_300, 1_790, 2_040, 2_600];

let world: GuardedGateway;
beforeAll(async () => {
  world = await startGuardedGateway({ bundle });
  return () => world[Symbol.asyncDispose]();
});

async function streamedText(content: string, frameLength: number): Promise<string> {
  world.upstream.play({ kind: 'answer', content, frameLength });
  const answer = await fetch(`${world.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${world.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: alias, stream: true, messages: [{ role: 'user', content: 'hello' }] }),
  });
  const frames = (await answer.text()).split('\n\n').filter((frame) => frame.startsWith('data: {'));
  return frames
    .map((frame) => JSON.parse(frame.slice('data: '.length)))
    .map((chunk) => chunk.choices?.[0]?.delta?.content ?? '')
    .join('');
}

test.each(Object.entries(secrets))(
  'no byte of %s of 2 KB leaves a gateway in a stream, at any offset',
  async (_, secret) => {
    for (const [index, offset] of offsets.entries()) {
      const before = 'some words '.repeat(300).slice(0, offset).replace(/.$/, ' ');
      const received = await streamedText(`${before}${secret} and more words.`, [7, 64, 4_000][index % 3] ?? 7);
      expect({ offset, received: before.startsWith(received) }).toEqual({ offset, received: true });
    }
  },
);

test('a stream that contains no secret arrives completely', async () => {
  const clean = 'https://docs.example/path?page=2 and ![a](https://e.example/p.png), token: none. '.repeat(40);
  expect(await streamedText(clean, 50)).toBe(clean);
});
