// Usage: gateway-process.ts FILE: a gateway in a process of its own, with the models of a JSON file (GatewaySetup).
import { readFileSync } from 'node:fs';
import { devNull } from 'node:os';
import { pino } from 'pino';
import { createLogger } from '#kit/log/logger';
import { writeReadyLine } from '#kit/process/ready';
import { type PolicyPin, routeGuard, routeSpec, storedRoute } from '../../dataplane/gateway/testing/route-builder.ts';
import { ready, startGateway } from '../../dataplane/gateway/testing/start-gateway.ts';

export type GatewaySetup = {
  /** Folder with the keys and tokens of the gateway. */
  readonly folder: string;
  readonly runtimeToken: string;
  /** Address of the provider of every model. */
  readonly endpoint: string;
  /** Addresses of the runtimes that check the models, by alias; an alias without an entry is unguarded. */
  readonly models: Readonly<Record<string, PolicyPin | 'unguarded'>>;
};

const setup = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as GatewaySetup;
// A write for each line, as in a deployment: lines that are kept in memory would slow the measured process down.
const destination = pino.destination({ dest: devNull, sync: true });
const logger = createLogger({ service: 'gateway', level: 'info', destination });
const gateway = await startGateway(setup.folder, setup.runtimeToken, { logger });
for (const [alias, pin] of Object.entries(setup.models)) {
  const guard = pin === 'unguarded' ? ({ mode: 'None' } as const) : routeGuard(pin);
  gateway.routes.put(storedRoute(alias, routeSpec(alias, setup.endpoint, guard)));
}
await ready(gateway);
writeReadyLine({ listening: gateway.service.url });
process.stdin.resume().on('end', () => process.exit(0));
process.on('SIGTERM', () => process.exit(0));
