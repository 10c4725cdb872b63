import { expect, test } from 'vitest';
import { createLogger } from '#kit/log/logger';
import { reportMissingTables } from './service-readiness.ts';

function collectLines() {
  const lines: Readonly<Record<string, unknown>>[] = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line)) };
  return { lines, logger: createLogger({ service: 'memory', level: 'info', destination }) };
}

test('the log names the missing tables, and reports when all of them exist again', () => {
  const { lines, logger } = collectLines();
  reportMissingTables('memory', ['audit.migrations', 'memory.facts'], logger);
  reportMissingTables('memory', [], logger);
  expect(lines).toEqual([
    expect.objectContaining({ event: 'database_incomplete', level: 'error', tables: 'audit.migrations memory.facts' }),
    expect.objectContaining({ event: 'database_complete' }),
  ]);
});
