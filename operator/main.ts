import { writeReadyLine } from '#kit/process/ready';
import { runMain } from '#kit/process/run-main';
import { readConfig } from './config.ts';
import { createOperator } from './operator.ts';

runMain({
  name: 'operator',
  start: async () => {
    const operator = await createOperator(readConfig());
    writeReadyLine({ listening: operator.url, api: operator.apiUrl });
    return operator;
  },
});
