// A worker that claims a job and is killed directly after one of its steps. Arguments: URL of the database, file of its
// password, and as JSON the folder of objects, the URL of the model gateway, the step, and its occurrence.
import { createGatewayModels } from '#models/gateway-models';
import { createFolderObjects } from '#objects/adapters/folder/folder-objects';
import { connectSql, passwordFrom } from '#sql/connect';
import { ingestPorts, workOnce } from './open-ingest.ts';

const [url = '', passwordFile = '', given = ''] = process.argv.slice(2);
const plan = JSON.parse(given) as { objects: string; gateway: string; step: string; occurrence: number };
const database = connectSql({ url, password: passwordFrom(passwordFile), applicationName: 'work-and-die' });
let left = plan.occurrence;
await workOnce(
  ingestPorts(database, {
    objects: createFolderObjects(plan.objects),
    models: createGatewayModels({ url: new URL(plan.gateway) }),
    async onStep(step) {
      if (step !== plan.step) return;
      left -= 1;
      if (left > 0) return;
      process.kill(process.pid, 'SIGKILL');
      await new Promise(() => undefined);
    },
  }),
);
