import { expect, test } from 'vitest';
import { listenOf } from './identity-settings.ts';

const address = (host: string) => ({ host, port: 8080 });

test.each(['127.0.0.1', '::1'])('a service in development mode may listen on %s', (host) => {
  expect(listenOf({ mode: 'development' }, address(host))).toEqual(address(host));
});

test.each(['0.0.0.0', '::', '10.0.0.1', 'localhost'])(
  'a service in development mode does not listen on %s, because it authenticates nothing',
  (host) => {
    expect(() => listenOf({ mode: 'development' }, address(host))).toThrow('PORTCULLIS_IDENTITY=production');
    expect(listenOf({ mode: 'production', issuersFile: 'issuers.yaml' }, address(host))).toEqual(address(host));
  },
);
