import { expect, test } from 'vitest';
import { loadFlow } from '../loader/load-flow.ts';
import { chainText } from '../testing/flow-text.ts';
import { loadTests } from './load-tests.ts';
import { runTest } from './run-test.ts';

const look = { name: 'look', description: 'd', parameters: { type: 'object' }, mcp: { server: 's', tool: 't' } };
const load = loadFlow(
  chainText([
    { id: 'ask', kind: 'prompt', config: { model: 'gpt', messages: [{ role: 'user', content: 'Q' }], tools: [look] } },
  ]),
);
if (!load.ok) throw new Error(JSON.stringify(load.problems));
const { flow } = load;
const usage = { promptTokens: 0, completionTokens: 0 };
const answered = { value: { text: 'hi', finishReason: 'stop', turns: 1, usage } };
const toolCalls = [{ id: '1', name: 'look', arguments: {} }];

const read = (change: object) =>
  loadTests(
    JSON.stringify({
      apiVersion: 'platform.low-code.flow-tests/v1',
      tests: [{ name: 'one', input: {}, answers: { ask: { text: 'hi' } }, expect: { runs: ['ask'] }, ...change }],
    }),
    flow,
  );
async function problemsOf(change: object): Promise<readonly string[]> {
  const tests = read(change);
  const [first] = tests.ok ? tests.tests : [];
  if (first === undefined) throw new Error(JSON.stringify(tests));
  return (await runTest(flow, first)).problems;
}

test.each([
  [{}],
  [{ expect: { data: answered } }],
  [{ answers: { ask: { error: 'unavailable' } }, expect: { error: 'unavailable', skips: ['result'] } }],
  [
    {
      answers: { ask: [{ text: '', toolCalls }, { text: 'hi' }], 'ask.look': { text: 'found' } },
      expect: { runs: ['result'] },
    },
  ],
])('the flow test %j passes', async (change) => {
  expect(await problemsOf(change)).toEqual([]);
});

test.each([
  [{ expect: { data: {} } }, 'the data is {"value"'],
  [{ expect: { text: 'hi' } }, 'the text is nothing, expected "hi"'],
  [{ expect: { textContains: 'hi' } }, 'expected that it contains "hi"'],
  [{ expect: { skips: ['ask'] } }, 'the node ask ran'],
  [{ expect: { error: 'timeout' } }, 'the run gave a result, expected the error timeout'],
  [{ expect: { flowCode: 'none' } }, 'the run gave a result, expected the error none'],
  [{ answers: { ask: { error: 'refused' } } }, 'the run failed with refused at ask'],
  [{ answers: { ask: { error: 'refused' } }, expect: { error: 'timeout' } }, 'failed with refused, expected timeout'],
  [{ answers: { ask: { error: 'refused' } }, expect: { flowCode: 'none' } }, 'failed with refused, expected none'],
  [
    { answers: { ask: { error: 'refused' } }, expect: { error: 'refused', runs: ['result'] } },
    'the node result did not run',
  ],
  [{ answers: {} }, 'ask was called and has no answer in the test'],
  [
    { answers: { ask: [{ text: '', toolCalls }], 'ask.look': { text: 'found' } } },
    'ask was called and has no further answer',
  ],
  [{ answers: { ask: [{ text: '', toolCalls }, { text: '' }] } }, 'ask.look was called and has no answer'],
  [{ answers: { ask: [{ text: 'hi' }, { text: 'hi' }] } }, 'ask has answers that no call used: 1 of 2'],
  [{ answers: { ask: { items: [] } } }, 'ask has an answer of another shape'],
])('the flow test %j fails, and the reason is reported', async (change, words) => {
  expect((await problemsOf(change)).join('\n')).toContain(words);
});

test.each([
  [{ entrypoint: 'other' }, 'target', 'tests[0].entrypoint'],
  [{ answers: { start: {} } }, 'target', 'tests[0].answers.start'],
  [{ answers: { 'ask.other': {} } }, 'target', 'tests[0].answers[ask.other]'],
  [{ expect: { runs: ['other'] } }, 'target', 'tests[0].expect.runs[0]'],
  [{ expect: { skips: ['other'] } }, 'target', 'tests[0].expect.skips[0]'],
  [{ expect: {} }, 'shape', 'tests[0].expect'],
  [{ expect: { text: 'a', error: 'timeout' } }, 'shape', 'tests[0].expect'],
  [{ expect: { error: 'other' } }, 'shape', 'tests[0].expect.error'],
])('a file of flow tests with %j is refused, and the problem has line and column', (change, code, path) => {
  expect(read(change)).toMatchObject({ ok: false, problems: [{ code, path }] });
});

test('two flow tests with the same name are refused', () => {
  const one = { name: 'one', input: {}, expect: { runs: ['ask'] } };
  const text = JSON.stringify({ apiVersion: 'platform.low-code.flow-tests/v1', tests: [one, one] });
  expect(loadTests(text, flow)).toMatchObject({ problems: [{ code: 'duplicate', path: 'tests[1].name' }] });
});
