import { Option } from 'commander';
import { describe, expect, test } from 'vitest';
import { createCommandLine } from '../program.ts';
import { commandForNpm } from './options-of-npm.ts';

const options = (await createCommandLine()).commands.find((command) => command.name() === 'up')?.options ?? [];

/** The environment that npm sets for an option before `--`. */
function setByNpm({ long = '', negate, required }: Option): Record<string, string> {
  const name = long.replace(/^--(no-)?/, '').replaceAll('-', '_');
  return { [`npm_config_${name}`]: negate ? '' : required ? '7' : 'true' };
}

describe('options that npm takes for itself', () => {
  test('portcullis up has each option that the tests of npm options use', () => {
    const flags = options.map(({ long }) => long);
    expect(flags).toEqual(expect.arrayContaining(['--port', '--retrieval', '--no-management', '--no-handbook']));
  });

  test.each(options.map((option) => [option.long ?? '', option] as const))(
    'npm start %s is answered with the right command',
    (flag, option) => {
      const found = commandForNpm(options, [], setByNpm(option));
      expect(found).toEqual({
        taken: [flag],
        command: option.required ? `npm start -- ${flag} 7` : `npm start -- ${flag}`,
      });
    },
  );

  test('options that npm consumed are named together, in the order of the help, with the words after them', () => {
    const environment = { npm_config_agents: 'true', npm_config_retrieval: 'true', npm_config_handbook: '' };
    expect(commandForNpm(options, ['--port', '8090'], environment)).toEqual({
      taken: ['--retrieval', '--no-handbook', '--agents'],
      command: 'npm start -- --retrieval --no-handbook --agents --port 8090',
    });
  });

  test('a value that npm consumed as an argument is restored after its option', () => {
    const environment = { npm_config_port: 'true', npm_config_console: 'true' };
    expect(commandForNpm(options, ['8090'], environment)?.command).toBe('npm start -- --port 8090 --console');
    expect(commandForNpm(options, [], environment)?.command).toBe('npm start -- --port VALUE --console');
  });

  test('the suggested npm command quotes a value that contains a blank', () => {
    expect(commandForNpm(options, [], { npm_config_data: '/a b' })?.command).toBe("npm start -- --data '/a b'");
  });

  test('settings of npm and options that are switched off are not options that npm took', () => {
    const environment = { npm_config_registry: 'true', npm_config_memory: '', npm_config_agents: 'false' };
    expect(commandForNpm(options, ['--port', '8090'], environment)).toBeUndefined();
    expect(commandForNpm([new Option('--all')], [], {})).toBeUndefined();
  });
});
