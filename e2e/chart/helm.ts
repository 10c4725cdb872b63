import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { beforeEach } from 'vitest';
import { root } from '../../hack/check/run-tool.ts';
import { goModules } from '../../hack/cluster/build/go-modules.ts';
import { sourceKey } from '../../hack/cluster/build/module-key.ts';
import { cacheFolder } from '../../hack/cluster/places.ts';

export const chartFolder = join(root, 'charts', 'portcullis');

/** Why no chart is rendered; undefined where Helm is there. Nothing is built by a test. */
export const missingHelm: string | undefined =
  findProgram() === undefined ? "Helm is not built here: 'npm run cluster -- build' builds it" : undefined;

function findProgram(): string | undefined {
  const module = goModules.find(({ programs }) => programs['helm'] !== undefined);
  if (module === undefined) return undefined;
  const built = globSync(join(cacheFolder(), 'programs', module.name, `${sourceKey(module)}-*`, 'helm'));
  return built.find((path) => existsSync(path));
}

/** Skips every test of a suite with the reason, where there is one. */
export function skipWithout(missing: string | undefined): void {
  beforeEach((context) => {
    if (missing !== undefined) context.skip(missing);
  });
}

type HelmResult = { readonly code: number; readonly stdout: string; readonly stderr: string };

/**
 * Runs Helm without the plugins, repositories and settings of whoever runs the test. What their kubeconfig needs to
 * prove who they are, a program with its variables and its files at home, stays.
 */
export async function helm(args: readonly string[], kubeconfig?: string): Promise<HelmResult> {
  const program = findProgram();
  if (program === undefined) throw new TypeError('a suite that needs Helm is skipped without it');
  // What it remembers of a server goes with the server.
  const home = kubeconfig === undefined ? join(tmpdir(), 'portcullis-helm') : join(dirname(kubeconfig), 'helm');
  const inherited = Object.entries(process.env).filter(([name]) => !/^(HELM|KUBERNETES)_/.test(name));
  const environment = {
    ...Object.fromEntries(inherited),
    HELM_CACHE_HOME: join(home, 'cache'),
    HELM_CONFIG_HOME: join(home, 'config'),
    HELM_DATA_HOME: join(home, 'data'),
    KUBECACHEDIR: join(home, 'kube'),
    KUBECONFIG: kubeconfig ?? join(home, 'none'),
  };
  const child = spawn(program, args, { env: environment, stdio: ['ignore', 'pipe', 'pipe'] });
  const closed = once(child, 'close') as Promise<[number | null]>;
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), closed]);
  return { code: code ?? 1, stdout, stderr };
}

/** As helm, for a command that has to succeed. @returns standard output */
export async function helmOk(args: readonly string[], kubeconfig?: string): Promise<string> {
  const { code, stdout, stderr } = await helm(args, kubeconfig);
  if (code !== 0) throw new Error(`helm ${args.join(' ')} ended with ${code}: ${stderr.trim()}`);
  return stdout;
}
