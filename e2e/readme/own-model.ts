import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readBlocks, readCommands } from './read-blocks.ts';

/** Names of README.md for the endpoint of the reader and for the model at the provider. */
const printedEndpoint = 'https://models.example/v1';
const printedModel = 'NAME';

/**
 * Writes the key, and the entry that the section "Your own model" prints, with the endpoint of a substitute for the
 * model.
 */
export function connectOwnModel(data: string, readme: string, endpoint: string): void {
  const entry = readBlocks(readme).find(({ text }) => text.includes('name: my-models'))?.text;
  if (entry?.includes(printedEndpoint) !== true) throw new Error('README.md prints no entry of providers.yaml');
  mkdirSync(join(data, 'secrets'), { recursive: true, mode: 0o700 });
  writeFileSync(join(data, 'secrets/my-models'), 'sk-stand-in\n', { mode: 0o600 });
  appendFileSync(join(data, 'providers.yaml'), `${entry.replace(printedEndpoint, endpoint)}\n`);
}

/** The commands of the section "Your own model", for a model of this name. */
export function ownModelCommands(readme: string, model: string) {
  const commands = readBlocks(readme)
    .filter(({ label }) => label === 'console model')
    .flatMap(readCommands);
  return commands.map(({ command, output }) => ({ command: command.replaceAll(printedModel, model), output }));
}
