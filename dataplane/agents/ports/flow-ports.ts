import type { CheckClient } from '#checks/client';
import { PortError } from '#flow/engine/flow-error';
import type { FlowPorts } from '#flow/engine/ports';
import { createModelPort } from '#flow/services/model-port';
import type { TokenFile } from '#kit/http/token-file';
import type { LoadedAgent } from '../bundle/load-agent.ts';
import type { CallFiles } from '../files/call-files.ts';
import type { PolicyTargets } from '../steps/policy-targets.ts';
import { createFilePort } from './file-port.ts';
import { createGuardrailPort } from './guardrail-port.ts';

type FlowPortsOptions = {
  readonly modelGateway: URL | undefined;
  readonly modelGatewayTokenFile: TokenFile | undefined;
  readonly checks: CheckClient;
  readonly policies: PolicyTargets;
  readonly files: CallFiles;
};

/**
 * The ports of the flows in this process. A call that this process cannot make ends its node as `unavailable`.
 */
export function createFlowPorts({
  modelGateway,
  modelGatewayTokenFile,
  checks,
  policies,
  files,
}: FlowPortsOptions): FlowPorts {
  const away = async (): Promise<never> => {
    throw new PortError('unavailable');
  };
  return {
    model: modelGateway === undefined ? away : createModelPort({ url: modelGateway, tokenFile: modelGatewayTokenFile }),
    guardrail: createGuardrailPort(checks, policies),
    retrieval: away,
    memorySearch: away,
    memoryAdd: away,
    sessionGet: away,
    sessionPut: away,
    http: away,
    mcp: away,
    agent: away,
    file: createFilePort(files),
  };
}

/**
 * The dependencies of a flow that this process cannot reach with its settings, one sentence each. Such a version is not
 * ready, because each of its runs would fail.
 */
export function unreachableThings(
  { bundle }: LoadedAgent,
  { modelGateway }: Pick<FlowPortsOptions, 'modelGateway'>,
): readonly string[] {
  const settings: Partial<Record<(typeof bundle.requires)[number]['kind'], boolean>> = {
    model: modelGateway !== undefined,
    policy: true,
  };
  return bundle.requires
    .filter(({ kind }) => settings[kind] !== true)
    .map(({ kind, name }) => `the flow names the ${kind} ${name}, which this process has no setting to reach`);
}
