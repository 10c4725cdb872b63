import type { z } from 'zod';
import type { ConsoleConfig } from '../setup/console-config.ts';
import { type ApiAnswer, type Call, callApi } from './call-api.ts';

/** A service with tenants, retrieval or memory, for one person. */
export type TenantApi = {
  call<S extends z.ZodType>(path: string, schema: S, call?: Partial<Call>): Promise<ApiAnswer<z.infer<S>>>;
};

type Person = { readonly subject: string; readonly token: string };

/** The headers with which a service with tenants, or an agent, identifies a person. */
export type PersonHeaders = Readonly<Record<string, string>>;

/**
 * In production the token identifies the caller. In development mode the service verifies no token, and a header names
 * the person.
 */
export function personHeaders(
  { identity, tenant }: Pick<ConsoleConfig, 'identity' | 'tenant'>,
  { subject, token }: Person,
): PersonHeaders {
  const latin = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');
  const who = identity === 'production' ? { authorization: `Bearer ${token}` } : { 'x-user-id': latin(subject) };
  return { 'x-tenant-id': latin(tenant), ...who };
}

export function createTenantApi(
  origin: URL,
  config: Pick<ConsoleConfig, 'identity' | 'tenant'>,
  person: Person,
): TenantApi {
  const headers = personHeaders(config, person);
  return {
    async call(path, schema, options = {}) {
      const call = { ...options, headers: { ...options.headers, ...headers } };
      const answer = await callApi(new URL(path, origin), call, (value) => {
        const read = schema.safeParse(value);
        return read.success ? read.data : undefined;
      });
      // After the end of a session the console sends no requests.
      return answer.kind === 'refused' && answer.status === 401 ? { ...answer, isUnaccepted: true } : answer;
    },
  };
}
