import { describe, expect, test } from 'vitest';
import { shownLine } from './shown-line.ts';

describe('a line of the server that serves', () => {
  test.each([
    ['FATAL:  password authentication failed for user "hunter2"', 'FATAL:  password authentication failed for user'],
    ['FATAL:  no pg_hba.conf entry for replication connection from host "10.0.0.1"', /from host$/],
    ['FATAL:  invalid command-line argument for server process: hunter2', /server process$/],
    ['FATAL:  database "a "quoted" one" does not exist', 'FATAL:  database'],
    ['FATAL:  terminating connection due to administrator command', /due to administrator command$/],
    ['LOG:  checkpoint of "x" is late: 3 s', 'LOG:  checkpoint of "x" is late: 3 s'],
  ])('the PostgreSQL log line "%s" is logged without text of the client', (line, shown) => {
    if (typeof shown === 'string') expect(shownLine(line, true)).toBe(shown);
    else expect(shownLine(line, true)).toMatch(shown);
    expect(shownLine(line, true)).not.toContain('hunter2');
  });

  test('continuation lines of the PostgreSQL log are dropped', () => {
    expect(shownLine('\thunter2" does not exist', true)).toBeUndefined();
  });

  test('log lines of PostgreSQL before it accepts connections state in full why it does not start', () => {
    const line = 'FATAL:  data directory "/data" has invalid permissions';
    expect(shownLine(line, false)).toBe(line);
    expect(shownLine('\tmore', false)).toBe('\tmore');
  });
});
