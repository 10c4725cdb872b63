import { text as readText } from 'node:stream/consumers';
import { SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { FileReference, FileUse } from '#contracts/file-reference';
import { createTestKey } from '#identity/testing/test-issuer';
import { verifies } from '../../../e2e/support/verifies.ts';
import { type FileWorld, fileUse, openFolderWorld, openServiceWorld } from '../testing/file-world.ts';
import type { GrantedFile } from './ports.ts';

const signal = AbortSignal.timeout(600_000);
const other = { issuer: 'https://people.example', subject: 'bob' };
const agent = { issuer: 'https://gateway.example', subject: '01890a5d-ac96-774b-bcce-b302099a8070' };

/** The obligations of every file store, tested at the endpoint that verifies the capability. */
describe.each([
  { place: 'a folder', open: openFolderWorld },
  { place: 'a file service over HTTP', open: openServiceWorld },
])('files of $place', ({ open }) => {
  let world: FileWorld;
  beforeAll(async () => {
    world = await open();
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  const check = (reference: FileReference, use: Partial<FileUse> = {}) =>
    world.access.check(reference, { ...fileUse, ...use }, signal);
  const codeOf = async (work: Promise<unknown>): Promise<unknown> => {
    const error = await work.then(
      () => ({ code: 'granted' }),
      (thrown: unknown) => thrown as { code?: string },
    );
    return error.code;
  };
  const contentOf = async (file: GrantedFile): Promise<string> =>
    readText((await file.open(signal)) as Parameters<typeof readText>[0]);

  verifies(
    ['fileref:adapter:typed-port', 'fileref:check:own-endpoint'],
    'a valid file reference is granted with id, hash, size and media type of its file, before the file is read',
    async () => {
      const file = world.add('the notes of ann');
      const reference = await world.mint(file);
      const downloads = world.service?.counts.downloads;
      const granted = await check(reference);
      expect(granted).toMatchObject({ mediaType: 'text/plain', size: 16, sha256: file.sha256 });
      expect(world.service?.counts.downloads).toBe(downloads);
      expect(await contentOf(granted)).toBe('the notes of ann');
      expect(await codeOf(check({ ...reference, capability: 'forged' }))).toBe('capability_invalid');
    },
  );

  verifies(
    ['fileref:check:signature', 'fileref:check:issuer', 'fileref:insufficient:user-bearer'],
    'a file capability with another key, another issuer or another kind of token is refused',
    async () => {
      const file = world.add('content');
      const stranger = await createTestKey('EdDSA', 'files-1');
      expect(await codeOf(check(await world.mint(file)))).toBe('granted');
      expect(await codeOf(check(await world.mint(file, { key: stranger })))).toBe('signature_wrong');
      expect(await codeOf(check(await world.mint(file, { key: { ...world.key, kid: 'unknown' } })))).toBe(
        'signature_wrong',
      );
      expect(await codeOf(check(await world.mint(file, { issuer: 'https://other.example' })))).toBe('issuer_wrong');
      const reference = await world.mint(file);
      const [head, claims, signature = ''] = reference.capability.split('.');
      const changed = `${signature.slice(0, -8)}AAAAAAA${signature.at(-1)}`;
      expect(await codeOf(check({ ...reference, capability: [head, claims, changed].join('.') }))).toBe(
        'signature_wrong',
      );
      expect(await codeOf(check({ ...reference, capability: await bearerOf(world) }))).toBe('capability_invalid');
    },
  );

  verifies(
    [
      'fileref:check:recipient',
      'fileref:check:target-agent',
      'fileref:check:operation',
      'fileref:check:run-or-session',
      'fileref:check:acting-subject',
      'fileref:check:caller',
    ],
    'a file capability is valid for exactly one agent, operation, session, user and calling agent',
    async () => {
      const reference = await world.mint(world.add('content'));
      const delegated = await world.mint(world.add('content'), { caller: agent });
      const wrong: readonly (readonly [string, FileReference, Partial<FileUse>])[] = [
        ['recipient_wrong', reference, { agentId: agent.subject }],
        ['operation_wrong', reference, { operation: 'message:stream' }],
        ['session_wrong', reference, { session: 'session-2' }],
        ['subject_wrong', reference, { subject: other }],
        ['subject_wrong', reference, { subject: { ...fileUse.subject, issuer: other.issuer } }],
        ['caller_wrong', reference, { actors: [agent] }],
        ['caller_wrong', delegated, {}],
        ['caller_wrong', delegated, { actors: [other, agent] }],
      ];
      for (const [code, one, use] of wrong) expect([code, await codeOf(check(one, use))]).toEqual([code, code]);
      expect(await codeOf(check(reference))).toBe('granted');
      expect(await codeOf(check(delegated, { actors: [agent, other] }))).toBe('granted');
    },
  );

  verifies(
    ['fileref:check:expiry', 'fileref:field:expires-at'],
    'an expired file capability is refused, and so is a reference whose expiry differs from that of its capability',
    async () => {
      const file = world.add('content');
      expect(await codeOf(check(await world.mint(file, { ttlSeconds: 0 })))).toBe('expired');
      expect(await codeOf(check(await world.mint(file, { ttlSeconds: 600 })))).toBe('granted');
      expect(await codeOf(check(await world.mint(file, { ttlSeconds: 86_401 })))).toBe('capability_invalid');
      const reference = await world.mint(file);
      const later = new Date(Date.parse(reference.expiresAt) + 1_000).toISOString();
      expect(await codeOf(check({ ...reference, expiresAt: later }))).toBe('expired');
    },
  );

  verifies(
    [
      'fileref:check:file-id',
      'fileref:check:hash',
      'fileref:check:size',
      'fileref:check:media-type',
      'fileref:field:capability',
      'fileref:insufficient:guessed-file-id',
    ],
    'a file capability is valid for exactly one file: id, hash, size, media type and name cannot be changed or swapped',
    async () => {
      const [one, two] = [world.add('one'), world.add('two!')];
      const [reference, swapped] = [await world.mint(one), await world.mint(two)];
      const changes: readonly (readonly [string, Partial<FileReference>])[] = [
        ['file_wrong', { fileId: two.id }],
        ['hash_wrong', { sha256: two.sha256 }],
        ['size_wrong', { size: 4 }],
        ['media_type_wrong', { mediaType: 'text/markdown' }],
        ['name_wrong', { name: 'other.txt' }],
        ['file_wrong', { capability: swapped.capability, expiresAt: swapped.expiresAt }],
      ];
      for (const [code, change] of changes) {
        expect([code, await codeOf(check({ ...reference, ...change }))]).toEqual([code, code]);
      }
      expect(await codeOf(check(reference))).toBe('granted');
    },
  );

  verifies(
    ['fileref:check:owner'],
    'a file is refused when its owner, hash, size or media type has changed since its capability was issued',
    async () => {
      const file = world.add('content');
      const reference = await world.mint(file);
      const changes = [
        ['owner_wrong', { owner: other }],
        ['hash_wrong', { sha256: '0'.repeat(64) }],
        ['size_wrong', { size: 1 }],
        ['media_type_wrong', { mediaType: 'text/csv' }],
      ] as const;
      for (const [code, change] of changes) {
        world.describe({ ...file, ...change });
        expect(await codeOf(check(reference))).toBe(code);
      }
      world.describe(file);
      expect(await codeOf(check(reference))).toBe('granted');
      const unknown = await world.mint({ ...file, id: '01890a5d-ac96-774b-bcce-b302099a8071' });
      expect(await codeOf(check(unknown))).toBe('file_not_found');
    },
  );

  verifies(
    ['fileref:check:read-count-or-range', 'fileref:adapter:one-time-channel'],
    'a file capability allows as many reads as it states, and each grant uses one of them',
    async () => {
      const file = world.add('content');
      const once = await world.mint(file);
      const [first, second] = [await check(once), await check(once)];
      expect(await contentOf(first)).toBe('content');
      expect(await codeOf(first.open(signal))).toBe('reads_used');
      expect(await codeOf(second.open(signal))).toBe('reads_used');
      expect(await codeOf(check(once))).toBe('reads_used');
      const twice = await world.mint(file, { reads: 2 });
      for (let read = 1; read <= 2; read += 1) expect(await contentOf(await check(twice))).toBe('content');
      expect(await codeOf(check(twice))).toBe('reads_used');
      const race = await world.mint(file, { reads: 3 });
      const granted = await Promise.all(Array.from({ length: 8 }, () => check(race)));
      const outcomes = await Promise.all(granted.map((one) => codeOf(contentOf(one))));
      expect(outcomes.filter((code) => code === 'granted')).toHaveLength(3);
    },
  );

  verifies(
    ['fileref:check:revocation'],
    'a revoked file capability is refused, even when it is revoked between the check and the read',
    async () => {
      const file = world.add('content');
      const [reference, later, kept] = [await world.mint(file), await world.mint(file), await world.mint(file)];
      world.revoke(reference);
      expect(await codeOf(check(reference))).toBe('revoked');
      const granted = await check(later);
      world.revoke(later);
      expect(await codeOf(granted.open(signal))).toMatch(/revoked|reads_used/);
      expect(await codeOf(check(kept))).toBe('granted');
    },
  );

  test('a file store that does not work refuses every file reference as unavailable', async () => {
    const gone = await open();
    const reference = await gone.mint(gone.add('content'));
    const use = (): Promise<GrantedFile> => gone.access.check(reference, fileUse, signal);
    expect(await codeOf(use())).toBe('granted');
    await gone[Symbol.asyncDispose]();
    await expect(use()).rejects.toMatchObject({ name: 'FileUnavailableError' });
  });
});

/** An access token of a user, signed by a key that the place trusts. */
function bearerOf(world: FileWorld): Promise<string> {
  return new SignJWT({ sub: 'ann' })
    .setProtectedHeader({ alg: 'EdDSA', typ: 'at+jwt', kid: world.key.kid })
    .setIssuer('https://files.example')
    .setAudience('https://files.example')
    .setIssuedAt()
    .setExpirationTime('1h')
    .sign(world.key.privateKey);
}
