import { describe, expect, test } from 'vitest';
import { contentSources } from './content-sources.ts';
import { isBelow, parseS3Address, type S3Address } from './s3-address.ts';

const address = (uri: string): S3Address => parseS3Address(uri) ?? expect.fail(`${uri} is not an address`);

describe('s3 addresses', () => {
  test.each([
    ['s3://docs/a', { bucket: 'docs', key: 'a' }],
    ['S3://docs/a', { bucket: 'docs', key: 'a' }],
    ['s3://docs.eu-1/a/b c/ü.json', { bucket: 'docs.eu-1', key: 'a/b c/ü.json' }],
    ['s3://docs/a%2e%2e/b?x#y', { bucket: 'docs', key: 'a%2e%2e/b?x#y' }],
    ['s3://docs/a/..b', { bucket: 'docs', key: 'a/..b' }],
    [`s3://docs/${'a'.repeat(1_024)}`, { bucket: 'docs', key: 'a'.repeat(1_024) }],
  ])('the address %s is read without unescaping', (uri, expected) => {
    expect(parseS3Address(uri)).toEqual(expected);
  });

  test.each([
    's3:/docs/a',
    's3://docs',
    's3:///a',
    's3://d/a',
    's3://Docs/a',
    's3://do..cs/a',
    's3://user@docs/a',
    's3://docs:9000/a',
    's3://docs//a',
    's3://docs/a//b',
    's3://docs/../other/a',
    's3://docs/a/../../b',
    's3://docs/a/..',
    's3://docs/./a',
    's3://docs/a\\..\\b',
    's3://docs/a\0b',
    's3://docs/a\nb',
    `s3://docs/${'ü'.repeat(513)}`,
  ])('the address %j is refused', (uri) => {
    expect(parseS3Address(uri)).toBeUndefined();
  });

  test.each([
    ['s3://docs/acme/a', 's3://docs/acme/', true],
    ['s3://docs/acme/a/b', 's3://docs/acme/', true],
    ['s3://docs/anything', 's3://docs/', true],
    ['s3://docs/acme/', 's3://docs/acme/', false],
    ['s3://docs/acme2/a', 's3://docs/acme/', false],
    ['s3://docs/other/acme/a', 's3://docs/acme/', false],
    ['s3://docs/Acme/a', 's3://docs/acme/', false],
    ['s3://docs2/acme/a', 's3://docs/acme/', false],
  ])('the object %s is below %s: %s', (object, folder, expected) => {
    expect(isBelow(address(object), address(folder))).toBe(expected);
  });
});

describe('approved sources', () => {
  test('folders and networks of content sources are read, and both are optional', () => {
    expect(contentSources.parse({})).toEqual({ s3: {}, allowedNetworks: [], tenantNetworks: {} });
    const { s3, allowedNetworks, tenantNetworks } = contentSources.parse({
      s3: { acme: ['s3://docs/acme/', 's3://acme/'] },
      allowedNetworks: ['10.1.0.0/16'],
      tenantNetworks: { acme: ['10.2.0.0/16', 'fd00::/8'] },
    });
    expect(s3).toEqual({
      acme: [
        { bucket: 'docs', key: 'acme/' },
        { bucket: 'acme', key: '' },
      ],
    });
    expect([allowedNetworks.length, tenantNetworks['acme']?.length]).toEqual([1, 2]);
  });

  test.each([
    [{ s3: { acme: ['s3://docs/acme'] } }, ['s3', 'acme', 0]],
    [{ s3: { acme: ['s3://docs/../acme/'] } }, ['s3', 'acme', 0]],
    [{ s3: { acme: ['https://docs/acme/'] } }, ['s3', 'acme', 0]],
    [{ allowedNetworks: ['10.0.0.1/8'] }, ['allowedNetworks', 0]],
    [{ tenantNetworks: { acme: ['10.0.0.1/8'] } }, ['tenantNetworks', 'acme', 0]],
    [{ tenantNetworks: { acme: '10.0.0.0/8' } }, ['tenantNetworks', 'acme']],
    [{ https: true }, []],
  ])('the content sources %j are refused and the path is named', (value, path) => {
    const { error } = contentSources.safeParse(value);
    expect(error?.issues[0]?.path).toEqual(path);
  });
});
