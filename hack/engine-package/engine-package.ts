import { createHash } from 'node:crypto';

export type EngineSystem = {
  readonly platform: string;
  readonly arch: string;
  /** ABI of Node that the engine was built for. */
  readonly abi: string;
  readonly libc: 'glibc' | 'musl' | undefined;
};

/** The members of the package.json of re2 that name its prebuilt engines. */
export type OfferingPackage = {
  readonly version: string;
  /** SHA-256 of each engine, as sha256:HEX. */
  readonly artifactHashes: Readonly<Record<string, string>>;
};

/** The name of the engine of a system, as the releases of re2 have it. */
export function slotOf({ platform, arch, abi, libc }: EngineSystem): string {
  return `${platform}${libc === 'musl' ? '-musl' : ''}-${arch}-${abi}`;
}

/** The package.json of the package that contains only the engine of one system. */
export function engineManifest(version: string, system: EngineSystem): Readonly<Record<string, unknown>> {
  return {
    name: `@portcullis/re2-${slotOf(system)}`,
    version,
    description: `The RE2 engine of re2 ${version} for ${slotOf(system)}`,
    license: 'BSD-3-Clause',
    os: [system.platform],
    cpu: [system.arch],
    ...(system.libc === undefined ? {} : { libc: [system.libc] }),
    files: ['re2.node', 'LICENSE'],
  };
}

/** The line of `checksums`: as sha256sum writes it, named VERSION/SLOT. */
export function checksumLine(version: string, system: EngineSystem, engine: Uint8Array): string {
  return `${createHash('sha256').update(engine).digest('hex')}  ${version}/${slotOf(system)}`;
}

/** ABI of the Node of this repository. */
const nodeAbi = '137';

/**
 * The lines of the engines that a release of re2 offers for the Node version of this repository, according to its own
 * package.json.
 */
export function offeredChecksums({ version, artifactHashes }: OfferingPackage): readonly string[] {
  const own = Object.entries(artifactHashes).filter(
    ([slot]) => slot.endsWith(`-${nodeAbi}`) && !slot.startsWith('win32'),
  );
  return own.map(([slot, hash]) => `${hash.replace(/^sha256:/, '')}  ${version}/${slot}`);
}

/** The recorded lines and the added lines of the same version, sorted by name. An engine may have several builds. */
export function withChecksums(recorded: string, added: readonly string[]): string {
  const nameOf = (text: string): string => text.split('  ')[1] ?? '';
  const versionOf = (text: string): string => nameOf(text).split('/')[0] ?? '';
  const versions = new Set(added.map(versionOf));
  const kept = recorded.split('\n').filter((text) => versions.has(versionOf(text)));
  const lines = [...new Set([...kept, ...added])].sort((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1));
  return `${lines.join('\n')}\n`;
}
