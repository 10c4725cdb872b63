import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describeSettings, type Settings } from '#kit/env/read-environment';
import { listFiles } from '../boundaries/list-files.ts';
import { root } from '../check/run-tool.ts';
import { code, page, table } from '../reference/markdown.ts';

async function settingsOf(path: string): Promise<Settings | undefined> {
  const module = (await import(pathToFileURL(join(root, path)).href)) as { readonly settings?: Settings };
  return module.settings;
}

/** The settings of every process that a config.ts describes. */
export async function generate(): Promise<ReadonlyMap<string, string>> {
  const parts: string[] = [];
  for (const path of listFiles(root).filter((file) => /(^|\/)config\.ts$/.test(file))) {
    const settings = await settingsOf(path);
    if (settings === undefined) continue;
    const rows = describeSettings(settings).map((row) => [
      code(row.name),
      row.type,
      row.required ? 'required' : row.default === undefined ? 'optional' : code(row.default),
      row.help,
    ]);
    parts.push(`## ${path.replace(/\/config\.ts$/, '')}`, table(['Variable', 'Value', 'Default', 'Meaning'], rows));
  }
  const introduction =
    'Every process reads its configuration from environment variables, once, at its start. It reports every problem ' +
    'at once and does not start with one.';
  return new Map([['docs/reference/environment.md', page('Settings', introduction, parts)]]);
}
