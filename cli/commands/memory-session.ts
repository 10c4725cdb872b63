import type { Command } from 'commander';
import { memoryLimits } from '#contracts/memory';
import { CliError } from '../errors/cli-error.ts';
import { type MemoryOptions, openMemoryClient, withMemoryOptions } from '../memory/memory-options.ts';
import { wholeNumber } from '../options/whole-number.ts';
import { formatOf, type OutputOptions, withUnnamedOutput, writeResult } from '../output/format.ts';

type Options = MemoryOptions & OutputOptions;

export function addMemorySession(memory: Command): void {
  const session = memory.command('session').description('states of sessions, which expire');
  const get = session.command('get').description('show a state').argument('<id>', 'id of the session');
  withUnnamedOutput(withMemoryOptions(get)).action(getState);
  const set = session
    .command('set')
    .description('replace a state')
    .argument('<id>', 'id of the session')
    .argument('<state>', 'JSON object')
    .option(
      '--ttl <seconds>',
      'seconds after which the state is absent',
      wholeNumber(memoryLimits.ttlSeconds.min, memoryLimits.ttlSeconds.max),
      3_600,
    );
  withUnnamedOutput(withMemoryOptions(set)).action(setState);
}

async function getState(id: string, options: Options): Promise<void> {
  const found = await openMemoryClient(options).getSession(id);
  writeResult(formatOf(options), found, () => JSON.stringify(found.state, undefined, 2));
}

async function setState(id: string, text: string, options: Options & { readonly ttl: number }): Promise<void> {
  const state = parsed(text);
  const stored = await openMemoryClient(options).setSession(id, { state, ttl_seconds: options.ttl });
  writeResult(formatOf(options), stored, () => `Session ${id} set for ${stored.ttl_remaining_seconds} seconds.`);
}

function parsed(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // The problem is reported below.
  }
  throw new CliError('usage', `The state must be a JSON object, such as '{"step": 2}'.`);
}
