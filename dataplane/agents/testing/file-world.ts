import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { v4 as uuid } from 'uuid';
import { sha256Hex } from '#contracts/canonical';
import type { FileReference, FileUse } from '#contracts/file-reference';
import { createFileCapabilityVerifier, mintFileReference, type StoredFile } from '#identity/file-capability';
import { createTestKey, type TestKey } from '#identity/testing/test-issuer';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { capabilityId, type FileService, startFileService } from '../../../e2e/support/file-service.ts';
import { createFolderAccess } from '../files/folder-access.ts';
import { createHttpAccess } from '../files/http-access.ts';
import type { FilePlace } from '../files/open-files.ts';
import type { FileAccess } from '../files/ports.ts';

type MintOptions = Partial<Parameters<typeof mintFileReference>[0]>;

/** A place with files, and references to them, for the agent and the caller of `fileUse`. */
export type FileWorld = AsyncDisposable & {
  readonly access: FileAccess;
  readonly place: FilePlace;
  /** Client key of the place; undefined for a folder. */
  readonly token: string | undefined;
  readonly key: TestKey;
  /** The service; undefined for a folder. */
  readonly service: FileService | undefined;
  readonly root: string;
  add(content: string | Buffer, more?: Partial<StoredFile>): StoredFile;
  mint(file: StoredFile, more?: MintOptions): Promise<FileReference>;
  revoke(reference: FileReference): void;
  /** Changes the stored facts of a file, and not its bytes. */
  describe(file: StoredFile): void;
};

const owner = { issuer: 'https://people.example', subject: 'owner' };
const fileIssuer = 'https://files.example';
/** The use for which a world mints references unless a test says otherwise. */
export const fileUse: FileUse = {
  agentId: '01890a5d-ac96-774b-bcce-b302099a8061',
  // Temporary files have the version in their path, so concurrent test runs need different versions.
  versionId: uuid(),
  operation: 'message:send',
  session: 'session-1',
  runId: 'run-1',
  subject: { issuer: 'development:agents', subject: 'ann' },
  actors: [],
};

async function openParts() {
  const folder = temporaryFolder();
  const key = await createTestKey('EdDSA', 'files-1');
  const keysFile = join(folder.path, 'jwks.json');
  writeFileSync(keysFile, JSON.stringify({ keys: [key.jwk] }));
  const fileOf = (content: string | Buffer, more: Partial<StoredFile> = {}): StoredFile => ({
    id: uuid(),
    name: 'notes.txt',
    mediaType: 'text/plain',
    size: Buffer.byteLength(content),
    sha256: sha256Hex(Buffer.from(content)),
    owner,
    ...more,
  });
  const mint: FileWorld['mint'] = (file, more = {}) => {
    const { agentId, operation, session, subject: acting } = fileUse;
    return mintFileReference({ key, issuer: fileIssuer, file, agentId, operation, session, acting, ...more });
  };
  return { folder, key, keysFile, fileOf, mint };
}

/** Files of a folder. */
export async function openFolderWorld(): Promise<FileWorld> {
  const { folder, key, keysFile, fileOf, mint } = await openParts();
  const root = folder.path;
  for (const name of ['files', 'revoked']) mkdirSync(join(root, name));
  const verifier = createFileCapabilityVerifier({ issuer: fileIssuer, jwks: { file: keysFile } });
  const describe = (file: StoredFile): void =>
    writeFileSync(join(root, 'files', `${file.id}.json`), JSON.stringify(file));
  return {
    access: createFolderAccess(root, verifier),
    place: { kind: 'folder', root, issuer: fileIssuer, keysFile },
    token: undefined,
    key,
    service: undefined,
    root,
    add(content, more) {
      const file = fileOf(content, more);
      writeFileSync(join(root, 'files', file.id), content);
      describe(file);
      return file;
    },
    mint,
    revoke({ capability }) {
      writeFileSync(join(root, 'revoked', sha256Hex(Buffer.from(capabilityId(capability)))), '');
    },
    describe,
    [Symbol.asyncDispose]: async () => folder[Symbol.dispose](),
  };
}

/** Files of the reference server of the HTTP contract. */
export async function openServiceWorld(): Promise<FileWorld> {
  const { folder, key, keysFile, fileOf, mint } = await openParts();
  const token = 'file-service-key';
  const contents = new Map<string, Buffer>();
  const service = await startFileService({
    issuer: fileIssuer,
    keysFile,
    accepts: (authorization) => authorization === `Bearer ${token}`,
  });
  const url = new URL(service.url);
  return {
    access: createHttpAccess({ url, headersFor: async () => ({ authorization: `Bearer ${token}` }) }),
    place: { kind: 'service', url },
    token,
    key,
    service,
    root: folder.path,
    add(content, more) {
      const file = fileOf(content, more);
      contents.set(file.id, Buffer.from(content));
      service.add(file, Buffer.from(content));
      return file;
    },
    mint,
    revoke: service.revoke,
    describe: (file) => service.add(file, contents.get(file.id) ?? Buffer.alloc(0)),
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}
