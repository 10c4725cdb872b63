import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runToEnd } from '#kit/testing/run-to-end';
import { KubeError, type KubeErrorCode } from '#kube/client/kube-error';
import { checkout } from '../platform/data-directory.ts';
import { describeError } from './describe-error.ts';

const fault = (code: string) => Object.assign(new Error(`${code}: the system's own words`), { code, path: '/p/file' });

test.each([
  ['ENOENT', 'it does not exist: check the path'],
  ['EACCES', 'permission is denied: check its owner and mode'],
  ['EPERM', 'permission is denied: check its owner and mode'],
  ['ENOSPC', 'no space is left on the disk: free some and repeat the command'],
  ['EROFS', 'the file system is read-only: choose another place'],
  ['EISDIR', 'it is a folder: give a file'],
  ['EMFILE', 'too many files are open: raise the limit (ulimit -n) and repeat the command'],
])('a file error %s names the file and the remedy in plain words', (code, words) => {
  expect(describeError(fault(code))).toEqual({ exit: 'failed', message: `/p/file cannot be used: ${words}.` });
});

test.each([new TypeError('cannot read properties of undefined'), fault('EUNKNOWN'), 'a thrown text', undefined])(
  'an unexpected error, such as %s, is shown without its text and without a stack',
  (error) => {
    const { exit, message } = describeError(error);
    expect(exit).toBe('failed');
    expect(message).toMatch(/^The command failed with an error without a message \(\w+\)\. Repeat it with /);
    expect(message).not.toMatch(/cannot read|own words|a thrown text|\n/);
  },
);

describe('an answer of an API server', () => {
  const sentences: readonly (readonly [KubeErrorCode, string, RegExp])[] = [
    ['not_found', 'not_found', /choose another one/],
    ['conflict', 'conflict', /read it again and repeat the command/],
    ['precondition_failed', 'conflict', /read it again and repeat the command/],
    ['already_exists', 'conflict', /choose another name/],
    ['invalid', 'usage', /Correct it and repeat the command/],
    ['unauthenticated', 'unauthenticated', /log in again/],
    ['forbidden', 'refused', /portcullis-editor/],
    ['too_many_requests', 'failed', /repeat the command in a moment/],
    ['unavailable', 'failed', /repeat the command in a moment/],
    ['gone', 'failed', /repeat the command/],
    ['too_large_resource_version', 'failed', /repeat the command/],
    ['storage_full', 'failed', /free some space/],
    ['network', 'not_running', /check its logs/],
  ];
  test.each([
    ['ECONNREFUSED', 'no program accepts connections at its address'],
    ['ENOTFOUND', 'its name cannot be resolved'],
    ['CERT_HAS_EXPIRED', 'its certificate has expired or is not valid yet'],
    ['UND_ERR_CONNECT_TIMEOUT', 'no complete answer came in time'],
    ['ECONNRESET', 'the connection broke'],
  ])('a broken connection (%s) is described in plain words', (code, words) => {
    const error = new KubeError('network', `GET to the API server: ${code}`, {}, { cause: fault(code) });
    expect(describeError(error)).toEqual({
      exit: 'not_running',
      message: `The platform does not answer (${words}): check its logs, or restart it.`,
    });
  });

  test.each(sentences)('an answer with the code %s ends with %s and a remedy', (code, exit, words) => {
    const found = describeError(new KubeError(code, 'etcdserver: words of the server'));
    expect(found).toEqual({ exit, message: expect.stringMatching(words) });
    expect(found.message).toMatch(/^[A-Z].*[.)]$/s);
  });

  test('an object that a server refuses does not have the exit code of an invalid command line', () => {
    const exitOf = (status: number) => describeError(new KubeError('invalid', 'x', { status })).exit;
    expect([exitOf(422), exitOf(400)]).toEqual(['refused', 'usage']);
  });

  test('an answer that lists problems of an object is described field by field', () => {
    const causes = [
      { field: 'spec.replicas', message: 'must be at least 1' },
      { field: '', message: 'the alias is taken' },
    ];
    expect(describeError(new KubeError('invalid', 'x', { causes })).message).toBe(
      'The server refused the resource: spec.replicas must be at least 1; the alias is taken. Correct it and repeat the command.',
    );
  });
});

test.each(['throw new TypeError("words of a library")', 'Promise.reject(new RangeError("words of a library"))'])(
  'a process that runs %s without a handler exits with 1 and a sentence',
  async (statement) => {
    const module = join(checkout, 'cli/errors/end-on-unknown-error.ts');
    const code = `import { endOnUnknownError } from ${JSON.stringify(module)}; endOnUnknownError(); setImmediate(() => { ${statement} });`;
    const end = await runToEnd(process.execPath, ['--input-type=module', '--eval', code], { cwd: checkout });
    expect(end).toMatchObject({ code: 1, stdout: '' });
    expect(end.stderr).toMatch(/^portcullis: The command failed with an error without a message \(\w+\)\. .*\n$/);
    expect(end.stderr).not.toContain('words of a library');
  },
);
