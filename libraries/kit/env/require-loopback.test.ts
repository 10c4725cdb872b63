import { expect, test } from 'vitest';
import { ConfigError } from './config-error.ts';
import { requireLoopback } from './require-loopback.ts';

test.each(['127.0.0.1', '::1'])('%s is accepted as a loopback address', (host) => {
  expect(requireLoopback('X', { host, port: 80 })).toEqual({ host, port: 80 });
});

test.each(['0.0.0.0', '::', 'localhost', '127.0.0.2', '10.0.0.1'])(
  '%s is refused as a loopback address, with the name of the setting',
  (host) => {
    expect(() => requireLoopback('X', { host, port: 80 })).toThrow(ConfigError);
    expect(() => requireLoopback('X', { host, port: 80 })).toThrow(
      'X must be an address 127.0.0.1 or [::1] with a port',
    );
  },
);
