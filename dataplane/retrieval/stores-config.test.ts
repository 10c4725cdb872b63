import { expect, test } from 'vitest';
import { ConfigError } from '#kit/env/config-error';
import { storesOf } from './stores-config.ts';

type Values = Parameters<typeof storesOf>[0];

const none: Values = {
  PORTCULLIS_NATS_URL: undefined,
  PORTCULLIS_NATS_STREAM: 'hints',
  PORTCULLIS_NATS_CREDENTIALS_FILE: undefined,
  PORTCULLIS_NATS_CA_FILE: undefined,
  PORTCULLIS_OBJECTS_DIR: undefined,
  PORTCULLIS_S3_URL: undefined,
  PORTCULLIS_S3_REGION: 'us-east-1',
  PORTCULLIS_S3_BUCKET: undefined,
  PORTCULLIS_S3_ACCESS_KEY_FILE: undefined,
  PORTCULLIS_S3_SECRET_KEY_FILE: undefined,
  PORTCULLIS_S3_CA_FILE: undefined,
  PORTCULLIS_CONTENT_SOURCES_FILE: undefined,
  PORTCULLIS_OPENSEARCH_URL: undefined,
  PORTCULLIS_OPENSEARCH_USER: undefined,
  PORTCULLIS_OPENSEARCH_PASSWORD_FILE: undefined,
  PORTCULLIS_OPENSEARCH_CA_FILE: undefined,
  PORTCULLIS_OPENSEARCH_PREFIX: 'portcullis',
};
const folder = { ...none, PORTCULLIS_OBJECTS_DIR: '/objects' };
const plain = { PORTCULLIS_OPENSEARCH_URL: new URL('http://search:9200') };
const search = {
  PORTCULLIS_OPENSEARCH_URL: new URL('https://search:9200'),
  PORTCULLIS_OPENSEARCH_USER: 'retrieval',
  PORTCULLIS_OPENSEARCH_PASSWORD_FILE: '/password',
};
const s3 = {
  PORTCULLIS_S3_URL: new URL('http://s3:9000'),
  PORTCULLIS_S3_ACCESS_KEY_FILE: '/access',
  PORTCULLIS_S3_SECRET_KEY_FILE: '/secret',
};

test('documents are staged in a folder or in an S3 bucket, and S3 may serve content_ref alone', () => {
  expect(storesOf(folder)).toMatchObject({ objects: { kind: 'folder', directory: '/objects' }, s3: undefined });
  expect(storesOf({ ...folder, ...s3 })).toMatchObject({ objects: { kind: 'folder' }, s3: { region: 'us-east-1' } });
  const staged = storesOf({ ...none, ...s3, PORTCULLIS_S3_BUCKET: 'staged' });
  expect(staged).toMatchObject({ objects: { kind: 's3', bucket: 'staged' } });
});

test('hints use NATS if its address is set, with TLS if its certificate authority is set', () => {
  expect(storesOf(folder).nats).toBeUndefined();
  const nats = storesOf({ ...folder, PORTCULLIS_NATS_URL: 'tls://nats:4222', PORTCULLIS_NATS_CA_FILE: '/ca' }).nats;
  expect(nats).toMatchObject({ servers: ['tls://nats:4222'], stream: 'hints', tls: { caFile: '/ca' } });
});

test('the search index is in OpenSearch if its address is set, and in memory otherwise', () => {
  expect(storesOf(folder).openSearch).toBeUndefined();
  const bare = storesOf({ ...folder, PORTCULLIS_OPENSEARCH_URL: new URL('http://search:9200') }).openSearch;
  expect(bare).toMatchObject({ prefix: 'portcullis', credential: undefined, caFile: undefined });
  const own = new URL('http://127.0.0.1:9200');
  for (const url of [new URL('https://search:9200'), own]) {
    expect(storesOf({ ...folder, ...search, PORTCULLIS_OPENSEARCH_URL: url }).openSearch).toMatchObject({
      url,
      credential: { user: 'retrieval', passwordFile: '/password' },
    });
  }
  const longest = 'p'.repeat(40);
  const named = { ...search, PORTCULLIS_OPENSEARCH_CA_FILE: '/ca', PORTCULLIS_OPENSEARCH_PREFIX: longest };
  expect(storesOf({ ...folder, ...named }).openSearch).toMatchObject({ caFile: '/ca', prefix: longest });
});

test('every problem of the OpenSearch settings is reported together', () => {
  const wrong = { PORTCULLIS_OPENSEARCH_USER: 'retrieval', PORTCULLIS_OPENSEARCH_PREFIX: 'Documents' };
  expect(() => storesOf({ ...folder, ...wrong })).toThrow(
    /OPENSEARCH_URL is missing.*OPENSEARCH_PASSWORD_FILE is missing.*OPENSEARCH_PREFIX must have/s,
  );
});

test.each<[string, Values]>([
  ['PORTCULLIS_OPENSEARCH_URL', { ...folder, PORTCULLIS_OPENSEARCH_CA_FILE: '/ca' }],
  ['PORTCULLIS_OPENSEARCH_URL', { ...folder, ...search, PORTCULLIS_OPENSEARCH_URL: new URL('http://search:9200') }],
  ['PORTCULLIS_OPENSEARCH_URL', { ...folder, ...plain, PORTCULLIS_OPENSEARCH_CA_FILE: '/ca' }],
  ['PORTCULLIS_OPENSEARCH_URL', { ...folder, PORTCULLIS_OPENSEARCH_URL: new URL('http://search:9200/?key=hunter2') }],
  ['PORTCULLIS_OPENSEARCH_USER', { ...folder, ...search, PORTCULLIS_OPENSEARCH_USER: undefined }],
  ['PORTCULLIS_OPENSEARCH_USER', { ...folder, ...search, PORTCULLIS_OPENSEARCH_USER: 'user:hunter2' }],
  ['PORTCULLIS_OPENSEARCH_PASSWORD_FILE', { ...folder, ...search, PORTCULLIS_OPENSEARCH_PASSWORD_FILE: undefined }],
  ['PORTCULLIS_OPENSEARCH_PREFIX', { ...folder, ...plain, PORTCULLIS_OPENSEARCH_PREFIX: '-documents' }],
  ['PORTCULLIS_OPENSEARCH_PREFIX', { ...folder, ...plain, PORTCULLIS_OPENSEARCH_PREFIX: 'p'.repeat(41) }],
  ['PORTCULLIS_OBJECTS_DIR', none],
  ['PORTCULLIS_OBJECTS_DIR', { ...folder, ...s3, PORTCULLIS_S3_BUCKET: 'staged' }],
  ['PORTCULLIS_S3_URL', { ...none, PORTCULLIS_S3_BUCKET: 'staged' }],
  ['PORTCULLIS_S3_SECRET_KEY_FILE', { ...folder, ...s3, PORTCULLIS_S3_SECRET_KEY_FILE: undefined }],
  ['PORTCULLIS_S3_ACCESS_KEY_FILE', { ...folder, ...s3, PORTCULLIS_S3_ACCESS_KEY_FILE: undefined }],
  ['PORTCULLIS_NATS_URL', { ...folder, PORTCULLIS_NATS_URL: 'http://nats:4222' }],
  ['PORTCULLIS_NATS_URL', { ...folder, PORTCULLIS_NATS_URL: 'nats://user:hunter2@nats:4222' }],
  ['PORTCULLIS_NATS_STREAM', { ...folder, PORTCULLIS_NATS_URL: 'nats://nats:4222', PORTCULLIS_NATS_STREAM: 'a.b' }],
])('a store with a wrong or missing %s is refused, and no secret is repeated', (name, values) => {
  const reading = (): unknown => storesOf(values);
  expect(reading).toThrow(ConfigError);
  expect(reading).toThrow(name);
  expect(reading).not.toThrow('hunter2');
});
