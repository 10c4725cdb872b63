import { mkdirSync, readdirSync, readFileSync, truncateSync } from 'node:fs';
import { basename, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { dataDirectory } from '#contracts/data-directory';
import { flowLimits } from '#contracts/flow-limits';
import { createFileCapabilityVerifier } from '#identity/file-capability';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { fileIssuer } from '../platform/development-issuer.ts';
import { prepareDirectory } from '../supervisor/prepare-directory.ts';
import { folderWithFiles } from '../testing/run-cli.ts';
import { handOverFile } from './hand-over-file.ts';

const data = dataDirectory(join(temporaryFolder().path, 'data'));
const folder = folderWithFiles();
const ann = { issuer: 'development:default', subject: 'ann' };
const use = { agentId: 'reader', acting: ann };
beforeAll(async () => {
  mkdirSync(data.root);
  await prepareDirectory(data);
});

describe('handOverFile', () => {
  test('a file is handed over as a copy with a reference that is valid only for its agent, its conversation and its person', async () => {
    const path = folder.write('notes.md', '# Notes');
    const verifier = createFileCapabilityVerifier({ issuer: fileIssuer, jwks: { file: data.fileKeySet } });
    {
      await using handed = await handOverFile(data, path, use);
      const { reference, contextId: session } = handed;
      const granted = { agentId: 'reader', versionId: 'v', operation: 'message:send', session, runId: 'r' };
      const full = { ...granted, subject: ann, actors: [] };
      expect(reference).toMatchObject({ name: 'notes.md', mediaType: 'text/markdown', size: 7 });
      expect(readFileSync(join(data.storedFiles, reference.fileId), 'utf8')).toBe('# Notes');
      expect(await verifier.verify(reference, full)).toMatchObject({ kind: 'capability', owner: ann, reads: 1 });
      for (const [other, code] of [
        [{ agentId: 'other' }, 'recipient_wrong'],
        [{ session: 'session-2' }, 'session_wrong'],
        [{ subject: { ...ann, subject: 'bob' } }, 'subject_wrong'],
      ] as const) {
        expect(await verifier.verify(reference, { ...full, ...other })).toEqual({ kind: 'refusal', code });
      }
    }
    expect(readdirSync(data.storedFiles)).toEqual([]);
  });

  test('the keys of file references stay the same after a restart of the platform', async () => {
    const before = readFileSync(data.fileKeySet, 'utf8');
    expect(JSON.parse(before).keys).toHaveLength(1);
    expect(before).not.toContain('"d"');
    await prepareDirectory(data);
    expect(readFileSync(data.fileKeySet, 'utf8')).toBe(before);
  });

  test.each([
    ['a file that does not exist', () => join(folder.path, 'absent.txt'), 'not_found', 'There is no file'],
    ['a name without a known media type', () => folder.write('notes.exe', 'x'), 'usage', 'its name must end in one of'],
    ['a name with a control character', () => folder.write('a\nb.txt', 'x'), 'usage', 'control characters'],
    ['a folder', () => folderNamed('folder.txt'), 'usage', 'it is a folder'],
    ['a file over the limit', () => sized('large.txt', 1), 'usage', `at most ${flowLimits.manifest.fileBytes.max}`],
  ])('%s is not handed over, and no copy is left', async (_, pathOf, exit, message) => {
    const path = pathOf();
    await expect(handOverFile(data, path, use)).rejects.toMatchObject({
      exit,
      message: expect.stringContaining(message),
    });
    expect(readdirSync(data.storedFiles)).toEqual([]);
  });

  test('a file at the limit is handed over', async () => {
    const path = sized('limit.txt', 0);
    await using handed = await handOverFile(data, path, use);
    expect(handed.reference).toMatchObject({ name: basename(path), size: flowLimits.manifest.fileBytes.max });
  });
});

function folderNamed(name: string): string {
  const path = join(folder.path, name);
  mkdirSync(path);
  return path;
}

/** A file of the largest allowed size and some more bytes, without taking room on the disk. */
function sized(name: string, more: number): string {
  const path = folder.write(name, '');
  truncateSync(path, flowLimits.manifest.fileBytes.max + more);
  return path;
}
