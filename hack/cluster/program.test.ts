import { describe, expect, test, vi } from 'vitest';
import { clusterFolder } from './machine/places.ts';
import { runClusterCommandLine } from './program.ts';

describe('the command line of local clusters', () => {
  test('an option that npm consumed is reported', async () => {
    using error = vi.spyOn(console, 'error').mockImplementation(() => {});
    expect(await runClusterCommandLine(['up'], { npm_config_control_plane: 'true' })).toBe(2);
    expect(error.mock.calls.flat().join()).toContain("write 'npm run cluster -- up --control-plane");
  });
});

describe('the name of a local cluster', () => {
  test.each(['a', 'a-1', `a${'b'.repeat(29)}`])('the name of a local cluster may be %s', (name) => {
    expect(clusterFolder(name).endsWith(`/${name}`)).toBe(true);
  });

  test.each(['', '..', 'A', '1a', 'a/b', 'a b', `a${'b'.repeat(30)}`])(
    'the name of a local cluster may not be "%s"',
    (name) => {
      expect(() => clusterFolder(name)).toThrow(/cannot be the name/);
    },
  );
});
