// A replica of the memory service that sends itself a signal at a step; only its models are simulated.
import { ModelsError } from '#models/models-error';
import { createPostgresQueue } from '#queue/adapters/postgres/postgres-queue';
import { connectSql, passwordFrom } from '#sql/connect';
import { readConfig } from '../../dataplane/memory/config.ts';
import { createMemoryService } from '../../dataplane/memory/service.ts';
import { type CrashPlan, crashVariable, endWithParent, planFollower } from '../support/crash-plan.ts';
import { hashedWords } from '../support/hashed-words.ts';

endWithParent();
const plan = JSON.parse(process.env[crashVariable] ?? '') as CrashPlan;
const onStep = planFollower(plan);
const { config, secrets } = readConfig();
const queue = createPostgresQueue(
  connectSql({
    url: config.databaseUrl,
    password: passwordFrom(secrets.databasePasswordFile),
    applicationName: 'step-process',
  }),
);
const service = await createMemoryService(config, secrets, {
  models: hashedWords(() => {
    if (plan.step === 'released') throw new ModelsError('unavailable');
  }),
  // The API sends the queue hint after it has registered an add and before it answers.
  queue: {
    ...queue,
    async publish(topic) {
      if (topic === 'memory_events') onStep('registered');
      await queue.publish(topic);
    },
  },
  onStep,
});
process.stdout.write(`${JSON.stringify({ listening: service.url ?? service.adminUrl })}\n`);
