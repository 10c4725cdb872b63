import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { deniedTerm, maskedTerm, replacement, sampleDefinition } from '../../../e2e/support/sample-policy.ts';
import { verifies } from '../../../e2e/support/verifies.ts';
import { fileAgentBundle, fileMaxBytes } from '../testing/file-agent.ts';
import { type FileWorld, fileUse, openFolderWorld, openServiceWorld } from '../testing/file-world.ts';
import { errorCodeOf, policyName, type RunningAgent, startAgent } from '../testing/start-agent.ts';

type Json = Readonly<Record<string, unknown>>;
const lines: string[] = [];
const log = (): string => lines.join('');
const times = { checkMs: 10_000, readMs: 10_000 };
const objects = (versionId = fileUse.versionId): readonly string[] => {
  try {
    return readdirSync(join(tmpdir(), `portcullis-files-${versionId}`));
  } catch {
    return [];
  }
};

const messageWith = (data: unknown, contextId = fileUse.session): object => ({
  message: { messageId: 'm-1', role: 'ROLE_USER', contextId, parts: [{ data }] },
});
const runsOf = async (agent: RunningAgent): Promise<number> => {
  const { runs } = (await (await fetch(`${agent.adminUrl}/runs`)).json()) as { runs: unknown[] };
  return runs.length;
};

describe.each([
  { place: 'a folder', open: openFolderWorld },
  { place: 'a file service', open: openServiceWorld },
])('an agent with files in $place', ({ open }) => {
  let world: FileWorld;
  let agent: RunningAgent;
  beforeAll(async () => {
    world = await open();
    agent = await startAgent({
      bundle: fileAgentBundle({ bundle: { guardrails: { input: { name: policyName, revision: 1 }, output: 'None' } } }),
      policy: sampleDefinition(),
      config: { files: world.place },
      ...(world.token === undefined ? {} : { fileServiceToken: world.token }),
      fileTimes: times,
      log: (line) => void lines.push(line),
    });
  });
  afterAll(async () => {
    await agent?.[Symbol.asyncDispose]();
    await world?.[Symbol.asyncDispose]();
  });
  beforeEach(() => world.service?.sendInstead(undefined));

  const send = (data: unknown, contextId?: string, headers?: Record<string, string>) =>
    agent.call('POST', '/message:send', messageWith(data, contextId), headers);
  const dataOf = ({ json }: { readonly json: Json }): Json =>
    (json as unknown as { message: { parts: [{ data: Json }] } }).message.parts[0].data;
  /** Checks that neither a run nor a download has happened since the last check. */
  const watch = async () => {
    const [runs, downloads] = [await runsOf(agent), world.service?.counts.downloads];
    return async (): Promise<void> => {
      expect(await runsOf(agent)).toBe(runs);
      expect(world.service?.counts.downloads).toBe(downloads);
      expect(objects()).toEqual([]);
    };
  };
  const expectRefused = async (data: unknown, code = 'file_refused', contextId?: string): Promise<void> => {
    const answer = await send(data, contextId);
    expect([errorCodeOf(answer), answer.status]).toEqual([code, code === 'file_refused' ? 403 : 502]);
  };

  verifies(
    [
      'agents:order:fileref',
      'fileref:adapter:provider-load',
      'fileref:adapter:internal-path-only',
      'fileref:adapter:cleanup',
      'fileref:provider-path:not-returned',
      'fileref:provider-path:not-reused-run',
    ],
    'a run reads the text of its file and a temporary copy under its own name, and the copy is removed afterwards',
    async () => {
      const file = world.add('the notes of ann');
      const reference = await world.mint(file, { reads: 2 });
      const first = dataOf(await send({ file: reference }));
      expect(first).toMatchObject({
        text: 'the notes of ann',
        input: { file: { fileId: 'file-1', name: 'notes.txt', mediaType: 'text/plain', size: 16 } },
      });
      expect(JSON.stringify(first)).not.toContain(reference.capability);
      expect(JSON.stringify(first)).not.toContain(file.id);
      expect(objects()).toEqual([]);
      const second = dataOf(await send({ file: reference }));
      expect(second['object']).not.toBe(first['object']);
      for (const fileId of [String(first['object']), 'file-1', join(tmpdir(), String(first['object']))]) {
        expect(errorCodeOf(await send({ file: { fileId } }))).toBe('file_provider_mapping_failed');
      }
      await expectRefused({ file: { ...reference, fileId: first['object'] } });
    },
  );

  verifies(
    [
      'fileref:refused:other-user',
      'fileref:refused:other-agent',
      'fileref:refused:other-operation',
      'fileref:refused:expired',
      'fileref:refused:altered',
    ],
    'a reference of another user, agent, operation or session, and an expired or altered one, is refused before a download and a run',
    async () => {
      const file = world.add('content');
      const unchanged = await watch();
      const bob = { ...fileUse.subject, subject: 'bob' };
      const refused = [
        await world.mint(file, { acting: bob }),
        await world.mint(file, { agentId: '01890a5d-ac96-774b-bcce-b302099a8070' }),
        await world.mint(file, { operation: 'message:stream' }),
        await world.mint(file, { session: 'session-2' }),
        await world.mint(file, { ttlSeconds: 0 }),
        { ...(await world.mint(file)), name: 'other.txt' },
        { ...(await world.mint(file)), capability: 'altered' },
      ];
      for (const reference of refused) await expectRefused({ file: reference });
      const valid = await world.mint(file);
      await expectRefused({ file: valid }, 'file_refused', 'session-2');
      expect(errorCodeOf(await send({ file: valid }, undefined, { 'x-user-id': 'bob' }))).toBe('file_refused');
      expect(errorCodeOf(await send({ file: valid }, undefined, { 'x-agent-id': 'other' }))).toBe('file_refused');
      await unchanged();
      expect((await send({ file: valid })).status).toBe(200);
    },
  );

  verifies(
    [
      'fileref:field:api-version',
      'fileref:field:file-id',
      'fileref:field:name',
      'fileref:field:media-type',
      'fileref:field:size',
      'fileref:field:sha256',
      'fileref:field:expires-at',
      'fileref:version:v1',
      'fileref:insufficient:provider-path',
      'fileref:insufficient:arbitrary-url',
    ],
    'a reference with a malformed member, a path or a URL in place of a file id is refused without a check',
    async () => {
      const file = world.add('content');
      const valid = await world.mint(file);
      const checks = world.service?.counts.checks;
      const unchanged = await watch();
      const changes: readonly Json[] = [
        { apiVersion: 'platform.file-ref/v2' },
        { apiVersion: undefined },
        { fileId: 'notes.txt' },
        { fileId: '../../etc/passwd' },
        { fileId: 'https://files.example/notes.txt' },
        { fileId: undefined },
        { name: 7 },
        { mediaType: 7 },
        { size: 6.5 },
        { size: '7' },
        { sha256: valid.sha256.slice(1) },
        { sha256: `${valid.sha256}0` },
        { sha256: `g${valid.sha256.slice(1)}` },
        { expiresAt: 'tomorrow' },
        { expiresAt: 1_700_000_000 },
        { url: 'https://files.example/notes.txt' },
      ];
      for (const change of changes) await expectRefused({ file: { ...valid, ...change } });
      await expectRefused({ file: valid, more: [{ file: { ...valid, size: '7' } }] });
      expect(world.service?.counts.checks).toBe(checks);
      await unchanged();
      const accepted = await send({ file: { ...valid, sha256: valid.sha256.toUpperCase() } });
      expect(accepted.status).toBe(200);
    },
  );

  test('files at the limits of the manifest for media types, sizes and number are accepted, and files beyond them refused', async () => {
    const html = await world.mint(world.add('<p>', { mediaType: 'text/html' }));
    const large = await world.mint(world.add('x'.repeat(fileMaxBytes + 1)));
    const half = world.add('x'.repeat(fileMaxBytes / 2));
    const parts = [await world.mint(half), await world.mint(half)];
    const unchanged = await watch();
    await expectRefused({ file: html });
    await expectRefused({ file: large });
    await expectRefused({ file: parts[0], more: [...parts, ...parts] });
    const tiny = world.add('x');
    const many = await Promise.all(Array.from({ length: 9 }, () => world.mint(tiny)));
    await expectRefused({ file: many[0], more: many.slice(1) });
    await unchanged();
    expect((await send({ file: many[0], more: many.slice(2) })).status).toBe(200);
    expect((await send({ file: parts[0], more: parts.slice(1) })).status).toBe(200);
    const exact = await world.mint(world.add('x'.repeat(fileMaxBytes)));
    expect((await send({ file: exact })).status).toBe(200);
  });

  verifies(
    ['fileref:adapter:media-type-checked', 'fileref:adapter:hash-checked'],
    'a file whose content has another media type or hash than its reference is refused, and no run begins',
    async () => {
      const runs = await runsOf(agent);
      const pdf = await world.mint(world.add('plain text', { mediaType: 'application/pdf' }));
      await expectRefused({ file: pdf });
      const json = await world.mint(world.add('{"a":', { mediaType: 'application/json' }));
      await expectRefused({ file: json });
      const binary = await world.mint(world.add(Buffer.from([0x61, 0x00, 0xff])));
      await expectRefused({ file: binary });
      const wrong = await world.mint(world.add('content', { sha256: '0'.repeat(64) }));
      await expectRefused({ file: wrong });
      expect(await runsOf(agent)).toBe(runs);
      expect((await send({ file: await world.mint(world.add('{}', { mediaType: 'application/json' })) })).status).toBe(
        200,
      );
    },
  );

  test('the input policy judges the text of a file before the flow reads it', async () => {
    const runs = await runsOf(agent);
    const denied = await world.mint(world.add(`about ${deniedTerm}`));
    expect(errorCodeOf(await send({ file: denied }))).toBe('guardrail_denied');
    expect(await runsOf(agent)).toBe(runs);
    expect(objects()).toEqual([]);
    const masked = await world.mint(world.add(`about ${maskedTerm}`));
    expect(dataOf(await send({ file: masked }))['text']).toBe(`about ${replacement}`);
  });

  verifies(
    ['fileref:log:allowed', 'fileref:log:forbidden'],
    'log lines about file references contain the file id, the first characters of the hash and the decision, but neither content nor capability',
    async () => {
      lines.length = 0;
      const file = world.add('a very private content');
      const reference = await world.mint(file);
      await send({ file: reference });
      await send({ file: reference });
      await expectRefused({ file: { ...reference, fileId: 'private-file-name' } });
      const found = lines.map((line) => JSON.parse(line) as Json).filter(({ event }) => event === 'file_reference');
      const shown = found.map(({ level: _, time: __, service: ___, event: ____, ...fields }) => fields);
      const note = { fileId: file.id, hashPrefix: file.sha256.slice(0, 8) };
      expect(shown).toEqual([
        { ...note, decision: 'allowed' },
        { ...note, decision: 'allowed' },
        { ...note, decision: 'reads_used' },
        { decision: 'reference_invalid' },
      ]);
      for (const text of ['private', reference.capability, file.sha256.slice(0, 16), 'file-channels']) {
        expect(log()).not.toContain(text);
      }
    },
  );

  test('a call with a file reference is refused while the file store is unavailable, and the answer does not describe the store', async () => {
    const gone = await open();
    const own = await startAgent({
      bundle: fileAgentBundle({ bundle: { versionId: '01890a5d-ac96-774b-bcce-b302099a8064' } }),
      config: { files: gone.place },
      ...(gone.token === undefined ? {} : { fileServiceToken: gone.token }),
    });
    await using _ = own;
    const reference = await gone.mint(gone.add('content'), { reads: 2 });
    const body = messageWith({ file: reference });
    expect((await own.call('POST', '/message:send', body)).status).toBe(200);
    await gone[Symbol.asyncDispose]();
    const answer = await own.call('POST', '/message:send', body);
    expect([answer.status, errorCodeOf(answer)]).toEqual([502, 'file_provider_mapping_failed']);
    expect(answer.text).not.toContain(reference.capability);
    expect(await runsOf(own)).toBe(1);
  });
});
