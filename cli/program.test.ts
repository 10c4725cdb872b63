import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { exitCodes } from './errors/exit-codes.ts';
import { checkout } from './platform/data-directory.ts';
import { folderWithFiles, runCli, runInProcess } from './testing/run-cli.ts';

test('the exit codes of the CLI are stable', () => {
  expect(Object.fromEntries(Object.entries(exitCodes).map(([name, { code }]) => [name, code]))).toEqual({
    ok: 0,
    failed: 1,
    usage: 2,
    not_found: 3,
    not_running: 4,
    tests_failed: 5,
    guardrail_blocked: 6,
    guardrail_error: 7,
    upstream_error: 8,
    refused: 9,
    conflict: 10,
    busy: 11,
    timeout: 12,
    not_confirmed: 13,
    unauthenticated: 14,
    different: 15,
  });
});

describe('the command line', () => {
  test('portcullis --help lists the commands and exit codes', async () => {
    const { code, stdout } = await runCli(['--help']);
    expect(code).toBe(0);
    for (const word of ['up', 'apply', 'get', 'describe', 'delete', 'status', 'bundle', 'runtime', 'chat', 'check']) {
      expect(stdout).toMatch(new RegExp(`^  ${word} `, 'm'));
    }
    expect(stdout).toContain('guardrail_blocked');
    expect((await runInProcess(['bundle', 'build', '--help'])).stdout).toContain('--policy-id');
  });

  test.each([
    [['nonsense'], 2, 'portcullis: There is no command "nonsense". "portcullis --help" lists the commands.'],
    [['aply', '-f', 'x'], 2, 'There is no command "aply". Did you mean apply?'],
    [['operation', 'gte', 'x'], 2, 'There is no command "gte" of "operation". Did you mean get?'],
    [['policy'], 2, 'There is no command "policy". Use "portcullis get guardrailpolicies".'],
    [['policy', 'test', 'x'], 2, 'There is no command "policy test". Use "portcullis test -f x".'],
    [['binding', 'rollback', 'x'], 2, 'There is no command "binding rollback". Use "portcullis rollback x".'],
    [['binding', 'history', 'x'], 2, 'There is no command "binding history". Use "portcullis history binding/x".'],
    [['create', '-f', 'x'], 2, 'There is no command "create". Use "portcullis apply -f FILE".'],
    [['constructor'], 2, 'There is no command "constructor". "portcullis --help" lists the commands.'],
    [['get'], 2, 'portcullis: "get" needs the argument <kind> ('],
    [['history', 'a', 'b'], 2, '"history" takes one argument, and "b" is one too many.'],
    [['why', 'policy/a/b'], 2, 'portcullis: "policy/a/b" is not KIND/NAME'],
    [['get', 'gp/a', 'b'], 2, 'portcullis: "b" is not KIND/NAME'],
    [['get', 'gp', '--nonsense'], 2, 'portcullis: "get" has no option --nonsense. "portcullis get --help" lists'],
    [
      ['why', 'm', '--stage', 'x'],
      2,
      '"why" has no option --stage. Leave it out: only "portcullis activity" and "portcullis check" have',
    ],
    [['why', 'm', '--filename', 'x'], 2, '"why" has no option --filename. "portcullis why --help" lists the options.'],
    [['get', 'gp', '--outptu', 'json'], 2, '"get" has no option --outptu. Did you mean --output?'],
    [['--stage', 'request', 'check'], 2, 'Write it after the command: portcullis COMMAND --stage.'],
    [['get', 'gp', '-o', 'xml'], 2, '--output of "get" cannot be "xml". It must be one of json, yaml,'],
    [
      ['completion', 'bsh'],
      2,
      '<shell> of "completion" cannot be "bsh". Did you mean bash? It must be one of bash, zsh, fish.',
    ],
    [
      ['apply'],
      2,
      '"apply" needs the option -f, --filename <path> (a file, a folder, or - for standard input). Example: ',
    ],
    [
      ['up', '--port'],
      2,
      'The option --port <n> of "up" needs a value (port of the gateway; 0 chooses a free one at the first start and keeps it).',
    ],
    [['up', '--port', '65536'], 2, 'It must be a whole number from 0 to 65535'],
    [['up', '--port', '65534', '--gateways', '3'], 2, 'choose a port of at most 65533'],
    // The port is accepted, and the next option is refused.
    [['up', '--port', '65533', '--gateways', '3', '--guard-cards', 'x'], 2, 'add --catalogue'],
    [['up', '--port', '65535', '--guard-cards', 'x'], 2, 'add --catalogue'],
    [['up', '--gateways', '0'], 2, 'It must be a whole number from 1 to 8'],
    [['rollback', 'b', '--to-revision', '0'], 2, '1 or more'],
    [['agents', 'search', 'x', '--workspace', 'w', '--min-score', 'abc'], 2, 'It must be a number from 0 to 1'],
    [['agents', 'search', 'x', '--workspace', 'w', '--min-score', '1.1'], 2, 'It must be a number from 0 to 1'],
    [['flow', 'publish', 'no-such-folder', '--wait'], 3, 'no-such-folder'],
    [['get', 'pods'], 2, 'There is no kind "pods". The kinds are guardrailpolicies (gp)'],
    [['delete', 'gatewayroute', 'x'], 2, 'A GatewayRoute is created and deleted by the platform only.'],
    [['apply', '-f', '/no/such/file.yaml'], 3, 'There is no file or folder /no/such/file.yaml'],
    [['get', 'gp'], 4, 'does not exist: start a platform there with "portcullis up"'],
    [['-n', 'team', 'get', 'gp'], 4, 'does not exist: start a platform there with "portcullis up"'],
    [['--data=/no/such/folder', 'status'], 4, '/no/such/folder does not exist: start'],
    [['operation', 'get', 'abc'], 2, '"abc" is not the id of an operation'],
    [['status'], 4, 'does not exist: start a platform there with "portcullis up"'],
    [['chat', 'm', '--message', 'x'], 4, 'does not exist: start a platform there with "portcullis up"'],
  ] as const)('portcullis %j ends with %i and one clear sentence', async (args, code, sentence) => {
    const end = await runInProcess(args);
    expect(end.stderr).toContain(sentence);
    expect(end.stderr).not.toMatch(/\n\s+at /);
    expect({ code: end.code, stdout: end.stdout }).toEqual({ code, stdout: '' });
  });

  test.each([
    [['status', '--json'], 4, 'not_running', /does not exist/],
    [['status', '-o', 'json'], 4, 'not_running', /does not exist/],
    [['status', '--output=json'], 4, 'not_running', /does not exist/],
    [['get', '--json'], 2, 'usage', /^"get" needs the argument <kind> /],
    [['get', 'gp', '--json', '--nonsense'], 2, 'usage', /^"get" has no option --nonsense\. /],
    [['--json'], 2, 'usage', /^The command line has no option --json\. Write it after the command: /],
    [['--json', 'status'], 4, 'not_running', /does not exist/],
    [['-o', 'json', 'get', 'gp', '--nonsense'], 2, 'usage', /^"get" has no option --nonsense\. /],
    [['operation', '--json'], 2, 'usage', /^"operation" has no option --json\. Write it after the command: /],
    [['operation', '-o', 'json'], 2, 'usage', /-o|command/],
    [['up', '--port', '65536', '--json'], 2, 'usage', /from 0 to 65535/],
  ] as const)('portcullis %j ends with %i and one JSON object', async (args, code, name, message) => {
    const end = await runInProcess(args);
    expect(JSON.parse(end.stderr)).toEqual({ error: { code: name, message: expect.stringMatching(message) } });
    expect({ code: end.code, stdout: end.stdout }).toEqual({ code, stdout: '' });
  });

  test('a process of the CLI exits with the code of its error', async () => {
    expect(await runCli(['status'])).toMatchObject({
      code: 4,
      stdout: '',
      stderr: expect.stringMatching(/^portcullis: /),
    });
  });

  test('portcullis --version prints the version', async () => {
    const { version } = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8'));
    const end = { code: 0, stdout: `${version}\n`, stderr: '' };
    expect(await runCli(['--version'])).toEqual(end);
    expect(await runInProcess(['-V'])).toEqual(end);
  });

  test('portcullis logs shows the lines of a platform that no longer runs, and status names the command', async () => {
    using folder = folderWithFiles();
    const logs = (...words: readonly string[]) => runInProcess(['logs', ...words], { data: folder.path });
    expect(await logs()).toMatchObject({ code: 4, stderr: expect.stringContaining('is not the data directory') });
    folder.write('lock', '');
    expect(await logs()).toMatchObject({ code: 4, stderr: expect.stringContaining('No platform runs on') });
    const ended = `portcullis: warning: No platform runs on ${folder.path}: these are the last lines of its processes.\n`;
    mkdirSync(join(folder.path, 'logs'));
    folder.write('logs/gateway-1.log', 'one\n');
    folder.write('logs/operator.log', 'two\n');
    expect(await logs()).toEqual({ code: 0, stdout: '[gateway-1] one\n[operator] two\n', stderr: ended });
    expect(await logs('operator')).toEqual({ code: 0, stdout: 'two\n', stderr: ended });
    expect((await runInProcess(['__complete', 'logs', 'ope'], { data: folder.path })).stderr).toBe('');
    expect(await logs('-n', 'team')).toMatchObject({ code: 3, stderr: expect.stringContaining('no namespace team') });
    const { stderr } = await runInProcess(['status'], { data: folder.path });
    expect(stderr).toContain('"portcullis up". "portcullis logs" shows the last lines of its processes.');
    const named = await runInProcess(['status', '--data', folder.path]);
    expect(named.stderr).toContain(
      `"portcullis up --data ${folder.path}". "portcullis logs --data ${folder.path}" shows`,
    );
  });

  test('portcullis status distinguishes a folder of another program from a data directory without a running platform', async () => {
    using folder = folderWithFiles();
    const status = () => runInProcess(['status'], { data: folder.path });
    expect((await status()).stderr).toContain('is not the data directory of a platform');
    folder.write('lock', '');
    expect((await status()).stderr).toContain('No platform runs on');
    expect((await status()).stderr).not.toContain('portcullis logs');
    folder.write('lock', 'not a database at all');
    expect((await status()).code).not.toBe(0);
  });

  test('portcullis up refuses a folder with files of other programs', async () => {
    using folder = folderWithFiles();
    folder.write('thesis.txt', 'precious');
    const end = await runCli(['up'], { data: folder.path });
    expect(end.code).toBe(2);
    expect(end.stderr).toContain('contains other files and no data of a platform');
  });

  test('portcullis up fails immediately if the data directory cannot be created', async () => {
    const end = await runCli(['up', '--data', '/proc/portcullis/data']);
    expect(end).toMatchObject({ code: 2, stdout: '' });
    expect(end.stderr).toContain(
      'The data directory /proc/portcullis/data cannot be created, because its file system accepts no folders: choose another one',
    );
  });

  test('portcullis up fails immediately on a read-only file system', async (context) => {
    using folder = folderWithFiles();
    folder.write('lock', '');
    const mount = `mount --bind ${folder.path} ${folder.path} && mount -o remount,ro,bind ${folder.path}`;
    const isolated = (command: string) => spawnSync('unshare', ['-rm', 'sh', '-c', command], { encoding: 'utf8' });
    if (isolated(mount).status !== 0)
      return context.skip('this machine does not allow mounting a folder for one process');
    const up = `${process.execPath} ${join(checkout, 'cli/main.ts')} up --data ${folder.path}`;
    const end = isolated(`${mount} && ${up}`);
    expect(end).toMatchObject({ status: 2, stdout: '' });
    expect(end.stderr).toContain(
      `The data directory ${folder.path} cannot be written, because the file system is read-only: choose another one`,
    );
  });

  test('the entry script finds its Node.js from any folder and through a symbolic link', () => {
    using folder = folderWithFiles();
    mkdirSync(join(folder.path, 'bin'));
    symlinkSync(join(checkout, 'cli/portcullis'), join(folder.path, 'bin/portcullis'));
    symlinkSync('bin/portcullis', join(folder.path, 'relative'));
    const output = execFileSync(join(folder.path, 'relative'), ['--help'], { cwd: '/', encoding: 'utf8' });
    expect(output).toContain('Usage: portcullis');
  });
});

describe('completion', () => {
  const environment = { ...process.env, PATH: `${join(checkout, 'cli')}:${process.env['PATH']}` };
  let script: string;
  beforeAll(() => {
    script = execFileSync('portcullis', ['completion', 'bash'], { encoding: 'utf8', env: environment });
  });
  const complete = (...words: readonly string[]): readonly string[] => {
    const list = words.map((word) => `'${word}'`).join(' ');
    const probe = `${script}\nCOMP_WORDS=(${list}); COMP_CWORD=${words.length - 1}; _portcullis; printf '%s\\n' "\${COMPREPLY[@]}"`;
    return execFileSync('bash', ['-c', probe], { encoding: 'utf8', env: environment }).trim().split('\n');
  };

  /** The words that the hidden command offers, without the shell that filters and shows them. */
  const offered = async (...words: readonly string[]): Promise<readonly string[]> =>
    (await runInProcess(['__complete', ...words])).stdout.trim().split('\n').slice(0, -1);

  test('shell completion offers commands, subcommands, kinds, options and their values', async () => {
    expect(complete('portcullis', 'st')).toEqual(['status']);
    expect(complete('portcullis', 'bundle', 'build', '--pol')).toEqual(['--policy', '--policy-id']);
    expect(complete('portcullis', 'get', 'modelbindings', '--output', '')).toEqual([
      'json',
      'yaml',
      'wide',
      'name',
      'jsonpath=',
    ]);
    expect(await offered('freeze', 'set', '-o', '')).toEqual(['json', 'yaml', 'wide', 'jsonpath=']);
    expect(await offered('help', 'rollb')).toEqual(['rollback']);
    expect(await offered('bundle', 'b')).toEqual(['build']);
    expect(await offered('get', 'model')).toEqual(['modelbindings']);
    expect(await offered('delete', 'g')).toEqual(['guardrailpolicies']);
    expect(await offered('get', 'modelbindings', '--out')).toEqual(['--output']);
    expect(await offered('get', '-o', 'y')).toEqual(['yaml']);
    expect(await offered('check', '--stage', 're')).toEqual(['request', 'response']);
  });

  test('shell completion offers files and folders for their options, and no option twice', async () => {
    using folder = folderWithFiles();
    mkdirSync(join(folder.path, 'policies'));
    const file = folder.write('policy.yaml', '');
    expect(complete('portcullis', 'apply', '-f', `${folder.path}/pol`)).toEqual([join(folder.path, 'policies'), file]);
    expect(complete('portcullis', 'up', '--data', `${folder.path}/pol`)).toEqual([join(folder.path, 'policies')]);
    expect(complete('portcullis', 'test', '--filename', `${folder.path}/policy.`)).toEqual([file]);
    expect(await offered('get', 'gp', '--json', '--js')).toEqual([]);
  });

  test('shell completion offers no names without a platform', () => {
    expect(complete('portcullis', 'rollback', 'g')).toEqual(['']);
  });

  test.each(['zsh', 'fish'])('shell completion has a script for %s', async (shell) => {
    const { code, stdout } = await runInProcess(['completion', shell]);
    expect(code).toBe(0);
    expect(stdout).toContain('__complete');
  });
});
