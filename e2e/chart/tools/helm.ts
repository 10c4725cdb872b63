import { existsSync, globSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { beforeEach } from 'vitest';
import { type ProgramEnd, runToEnd } from '#kit/testing/run-to-end';
import { root } from '../../../hack/check/run-tool.ts';
import { goModules } from '../../../hack/cluster/build/go-modules.ts';
import { sourceKey } from '../../../hack/cluster/build/module-key.ts';
import { cacheFolder } from '../../../hack/cluster/machine/places.ts';

export const chartFolder = join(root, 'charts', 'portcullis');

/** Reason why no chart can be rendered; undefined when Helm is available. Tests do not build it. */
export const missingHelm: string | undefined =
  findProgram() === undefined ? "Helm is not built here: 'npm run cluster -- build' builds it" : undefined;

function findProgram(): string | undefined {
  const module = goModules.find(({ programs }) => programs['helm'] !== undefined);
  if (module === undefined) return undefined;
  const built = globSync(join(cacheFolder(), 'programs', module.name, `${sourceKey(module)}-*`, 'helm'));
  return built.find((path) => existsSync(path));
}

/** @throws TypeError without Helm */
export function helmProgram(): string {
  const program = findProgram();
  if (program === undefined) throw new TypeError('a suite that needs Helm is skipped without it');
  return program;
}

/** Skips every test of a suite if there is a reason. */
export function skipWithout(missing: string | undefined): void {
  beforeEach((context) => {
    if (missing !== undefined) context.skip(missing);
  });
}

/**
 * Runs Helm without the user's plugins, repositories and settings. The home folder and environment that a credential
 * plugin of the kubeconfig needs are kept.
 */
export async function helm(args: readonly string[], kubeconfig?: string): Promise<ProgramEnd> {
  const program = helmProgram();
  // The discovery cache is valid for one server only.
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
  return runToEnd(program, args, { environment });
}

/** Runs helm and throws when the command fails. @returns standard output */
export async function helmOk(args: readonly string[], kubeconfig?: string): Promise<string> {
  const { code, stdout, stderr } = await helm(args, kubeconfig);
  if (code !== 0) throw new Error(`helm ${args.join(' ')} ended with ${code}: ${stderr.trim()}`);
  return stdout;
}
