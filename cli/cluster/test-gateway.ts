// Program of helm test: calls the gateway as a client, with texts that pass, are masked and are denied.
import { readFileSync } from 'node:fs';
import { CliError } from '../errors/cli-error.ts';
import { writeText } from '../output/write.ts';
import { askModel, type ModelAnswer } from './ask-model.ts';
import { readTestGatewayConfig, type TestGatewayConfig } from './config.ts';
import { exampleCases } from './example-cases.ts';
import { runOnce } from './run-once.ts';
import { waitForAnswer } from './wait-for-answer.ts';

async function testGateway({ url, clientKeysFile, expectsExample, patienceMs }: TestGatewayConfig): Promise<void> {
  const key = clientKeysFile === undefined ? undefined : firstWord(readFileSync(clientKeysFile, 'utf8'));
  const patience = {
    deadline: performance.now() + patienceMs,
    advice: 'see the conditions of the binding guarded-echo',
  };
  const models = await waitForAnswer('GET /v1/models', () => askModel({ url, key, path: '/v1/models' }), patience);
  if (models.status !== 200) {
    throw new CliError('tests_failed', `GET /v1/models: status ${models.status} ${models.code ?? ''}`);
  }
  writeText('passed: the gateway lists its models');
  if (!expectsExample) return;
  for (const { title, content, stream, judge } of exampleCases) {
    const ask = (): Promise<ModelAnswer> => askModel({ url, key, path: '/v1/chat/completions', content, stream });
    const answer = await waitForAnswer(title, ask, patience);
    const problem = judge(answer);
    if (problem !== undefined) throw new CliError('tests_failed', `${title}: ${problem}`);
    writeText(`passed: ${title}`);
  }
}

/** The first key of a file with a key and a name on each line. */
function firstWord(text: string): string {
  return text.trim().split(/\s/, 1)[0] ?? '';
}

await runOnce('test', () => testGateway(readTestGatewayConfig()));
