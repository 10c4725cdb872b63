import { PortError } from '#flow/engine/flow-error';

/** A token for one audience, and the time from which it is not used any more, milliseconds since 1970. */
export type AudienceToken = { readonly token: string; readonly until: number };

type HeldGrant = { readonly grant: string; readonly tokens: Map<string, Promise<AudienceToken>> };

/**
 * The grants of the runs in progress, with the tokens that were traded for them (docs/design/agents.md, "Calls of a
 * flow"). A run without a grant has no entry. Both are forgotten when the run ends.
 */
export class RunGrants {
  readonly #held = new Map<string, HeldGrant>();

  start(runId: string, grant: string | undefined): void {
    if (grant !== undefined) this.#held.set(runId, { grant, tokens: new Map() });
  }

  end(runId: string): void {
    this.#held.delete(runId);
  }

  has(runId: string): boolean {
    return this.#held.has(runId);
  }

  /**
   * A token of one run that is still used at `now`. Calls that wait for the same audience share one trade; a trade that
   * failed is not kept.
   * @throws PortError forbidden for a run without a grant
   */
  async token(
    runId: string,
    audience: string,
    { now, trade }: { readonly now: number; readonly trade: (grant: string) => Promise<AudienceToken> },
  ): Promise<string> {
    const held = this.#held.get(runId);
    if (held === undefined) throw new PortError('forbidden');
    const before = await held.tokens.get(audience)?.catch(() => undefined);
    if (before !== undefined && before.until > now) return before.token;
    const traded = trade(held.grant);
    held.tokens.set(audience, traded);
    try {
      return (await traded).token;
    } catch (error) {
      if (held.tokens.get(audience) === traded) held.tokens.delete(audience);
      throw error;
    }
  }
}
