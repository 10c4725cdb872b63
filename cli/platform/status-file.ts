import { readFileSync } from 'node:fs';
import { z } from 'zod';

const processSchema = z.object({
  name: z.string(),
  kind: z.enum([
    'operator',
    'gateway',
    'echo',
    'postgres',
    'issuer',
    'management',
    'retrieval',
    'memory',
    'catalogue',
    'signin',
    'console',
  ]),
  pid: z.int(),
  startedAt: z.string(),
  ready: z.boolean(),
  /** False while a started process does not answer its health endpoint. */
  answering: z.boolean().default(true),
  restarts: z.int(),
  /** How the process last ended, with the last sentences of its log; absent while the process is ready. */
  ended: z.string().optional(),
});

/** The content of status.json, which `portcullis up` writes. */
const statusSchema = z.object({
  ready: z.boolean(),
  addresses: z.object({
    /** Origin of the first gateway, without a path. */
    gateway: z.string(),
    gateways: z.array(z.string()),
    /** Origins of health, metrics and activity of the gateways. */
    gatewayAdmins: z.array(z.string()).default([]),
    api: z.string(),
    operator: z.string(),
    /** Origin of the policy management API; absent if the API is off. */
    management: z.string().optional(),
    /** Origin of health and metrics of the management API; absent if the API is off. */
    managementAdmin: z.string().optional(),
    /** Origin of the retrieval service; absent if the service is off. */
    retrieval: z.string().optional(),
    /** Origin of the memory service; absent if the service is off. */
    memory: z.string().optional(),
    /** Origin of the agent catalogue; absent if the catalogue is off. */
    catalogue: z.string().optional(),
    /** Origin of the console; absent if the console is off. */
    console: z.string().optional(),
    /** Origin of the gateway that serves agents; absent if no gateway does. */
    agents: z.string().optional(),
    /** Origin of the development issuer. */
    issuer: z.string().optional(),
  }),
  /** The reason why the policy management API is off; absent if it is on. */
  managementOff: z.string().optional(),
  /** Why the retrieval service did not start; absent if it runs or was not requested. */
  retrievalOff: z.string().optional(),
  /** Why the memory service did not start; absent if it runs or was not requested. */
  memoryOff: z.string().optional(),
  /** Why the agent catalogue did not start; absent if it runs or was not requested. */
  catalogueOff: z.string().optional(),
  /** Why the console did not start; absent if it runs or was not requested. */
  consoleOff: z.string().optional(),
  /** The first administrators, each as issuer|subject. */
  administrators: z.array(z.string()).optional(),
  clientKeyFile: z.string(),
  dataDirectory: z.string(),
  pid: z.int(),
  processes: z.array(processSchema),
});

export type PlatformStatus = z.infer<typeof statusSchema>;
export type ProcessStatus = PlatformStatus['processes'][number];

/** The last written status; undefined if no status was written, or if it cannot be read. */
export function readStatusFile(path: string): PlatformStatus | undefined {
  try {
    const read = statusSchema.safeParse(JSON.parse(readFileSync(path, 'utf8')));
    return read.success ? read.data : undefined;
  } catch {
    return undefined;
  }
}
