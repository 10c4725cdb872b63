type State = 'ok' | 'degraded';

/** Longest wait for one dependency, milliseconds. */
const timeoutMs = 2_000;

/** The state of each dependency: degraded if its check fails or takes longer than two seconds. */
export async function readComponents<Name extends string>(
  checks: Readonly<Record<Name, () => Promise<unknown>>>,
): Promise<{ readonly status: State; readonly components: Record<Name, State> }> {
  const names = Object.keys(checks) as Name[];
  const states = await Promise.all(names.map((name) => stateOf(checks[name])));
  const components = Object.fromEntries(names.map((name, at) => [name, states[at]])) as Record<Name, State>;
  return { status: states.every((state) => state === 'ok') ? 'ok' : 'degraded', components };
}

function stateOf(check: () => Promise<unknown>): Promise<State> {
  const late = new Promise<State>((resolve) => {
    setTimeout(() => resolve('degraded'), timeoutMs).unref();
  });
  const answer = Promise.try(check).then(
    () => 'ok' as const,
    () => 'degraded' as const,
  );
  return Promise.race([answer, late]);
}
