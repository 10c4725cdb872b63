import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { dataDirectory } from '#contracts/data-directory';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { findLastingPort } from './free-port.ts';
import { chooseLastingPorts } from './lasting-ports.ts';

test('a process keeps the port of its last start', async () => {
  using folder = temporaryFolder();
  const data = dataDirectory(folder.path);
  const first = await chooseLastingPorts(data, ['catalogue', 'memory'], [], () => undefined);
  const again = await chooseLastingPorts(data, ['memory', 'catalogue'], [], () => undefined);
  expect(again.of('catalogue')).toBe(first.of('catalogue'));
  expect(again.of('memory')).toBe(first.of('memory'));
});

test('a process never gets the port of another process of the platform that does not listen yet', async () => {
  using folder = temporaryFolder();
  const data = dataDirectory(folder.path);
  const ofEcho = await findLastingPort();
  writeFileSync(data.ports, JSON.stringify({ catalogue: ofEcho }));
  const said: string[] = [];
  const ports = await chooseLastingPorts(data, ['catalogue'], [ofEcho], (sentence) => said.push(sentence));
  expect(ports.of('catalogue')).not.toBe(ofEcho);
  expect(said).toEqual([
    `port ${ofEcho} of catalogue is used by another process: it has port ${ports.of('catalogue')} from now on`,
  ]);
  expect(JSON.parse(readFileSync(data.ports, 'utf8'))).toEqual({ catalogue: ports.of('catalogue') });
});
