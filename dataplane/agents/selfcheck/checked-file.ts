import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sha256Hex } from '#contracts/canonical';
import type { FileReference } from '#contracts/file-reference';
import { createCapabilityKey, mintFileReference, type StoredFile } from '#identity/file-capability';
import type { Logger } from '#kit/log/logger';
import type { LoadedAgent } from '../bundle/load-agent.ts';
import type { CallFiles } from '../files/call-files.ts';
import { openCallFiles } from '../files/open-files.ts';
import { selfcheckSubject } from './confirm-capabilities.ts';
import { checkedFile } from './confirm-files.ts';

type CheckedFile = AsyncDisposable & { readonly files: CallFiles; readonly reference: FileReference };

const silent: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  with: () => silent,
};

/** Opens a folder with one file and a separate key, and makes a reference to the file for the built-in agent. */
export async function openCheckedFile(agent: LoadedAgent): Promise<CheckedFile> {
  const root = await mkdtemp(join(tmpdir(), 'portcullis-selfcheck-'));
  try {
    const issuer = 'selfcheck';
    const key = await createCapabilityKey(issuer);
    const keysFile = join(root, 'jwks.json');
    await writeFile(keysFile, JSON.stringify({ keys: [key.jwk] }));
    const file: StoredFile = {
      id: '01890a5d-ac96-774b-bcce-b302099a8056',
      name: 'check.txt',
      mediaType: 'text/plain',
      size: Buffer.byteLength(checkedFile.text),
      sha256: sha256Hex(Buffer.from(checkedFile.text)),
      owner: selfcheckSubject,
    };
    await mkdir(join(root, 'files'));
    await writeFile(join(root, 'files', file.id), checkedFile.text);
    await writeFile(join(root, 'files', `${file.id}.json`), JSON.stringify(file));
    const reference = await mintFileReference({
      key,
      issuer,
      file,
      agentId: agent.bundle.agentId,
      operation: checkedFile.operation,
      session: checkedFile.session,
      acting: selfcheckSubject,
    });
    const place = { kind: 'folder', root, issuer, keysFile } as const;
    const files = await openCallFiles({ agent, place, serviceTokenFile: undefined, logger: silent });
    return { files, reference, [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true }) };
  } catch (error) {
    await rm(root, { recursive: true, force: true });
    throw error;
  }
}
