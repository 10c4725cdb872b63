import { createHash } from 'node:crypto';

export type EngineSystem = {
  readonly platform: string;
  readonly arch: string;
  /** ABI of Node that the engine was built for. */
  readonly abi: string;
  readonly libc: 'glibc' | 'musl' | undefined;
};

/** The name of the engine of a system, as the releases of re2 have it. */
export function slotOf({ platform, arch, abi, libc }: EngineSystem): string {
  return `${platform}${libc === 'musl' ? '-musl' : ''}-${arch}-${abi}`;
}

/** package.json of the package that holds the engine of one system and nothing else. */
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

/** The recorded lines with one more, which replaces that of the same engine; sorted by name. */
export function withChecksum(recorded: string, line: string): string {
  const nameOf = (text: string): string => text.split('  ')[1] ?? '';
  const others = recorded.split('\n').filter((text) => text !== '' && nameOf(text) !== nameOf(line));
  const lines = [...others, line].sort((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1));
  return `${lines.join('\n')}\n`;
}
