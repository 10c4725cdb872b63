import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** Root folder of the checkout. */
export const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');

const tools = {
  biome: 'node_modules/@biomejs/biome/bin/biome',
  tsc: 'node_modules/typescript/bin/tsc',
  vitest: 'node_modules/vitest/vitest.mjs',
} as const;

type ToolName = keyof typeof tools;
export const toolNames = Object.keys(tools) as readonly ToolName[];

/** Runs a tool in the root folder with this terminal as its own; returns its exit code, 1 after a signal. */
export async function runTool(tool: ToolName, args: readonly string[]): Promise<number> {
  const child = spawn(process.execPath, [tools[tool], ...args], { cwd: root, stdio: 'inherit' });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code ?? 1;
}
