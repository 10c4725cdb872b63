import { expect, test } from 'vitest';
import { agentRecord } from '../testing/agent-record.ts';
import { agentNamed } from './catalogue-agents.ts';

test('a name finds the only agent that has it, even if two lists have that agent', () => {
  const [first, second] = [agentRecord('a')[1], agentRecord('b')[1]];
  expect(agentNamed([first, second, first], 'Agent a')).toEqual(first);
});

test('a name that no agent has is not found, and a name that two agents have is refused with their ids', () => {
  const agents = [agentRecord('a')[1], agentRecord('b', { name: 'Agent a', workspace: 'sales' })[1]];
  expect(() => agentNamed(agents, 'Agnet a')).toThrow('no agent named "Agnet a". Did you mean Agent a?');
  expect(() => agentNamed(agents, 'Other')).toThrow('"Other". "portcullis agents list" shows the names.');
  expect(() => agentNamed(agents, 'Agent a')).toThrow(
    '2 agents have the name "Agent a": give one id of a (workspace support), b (workspace sales).',
  );
});
