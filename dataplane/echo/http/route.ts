/** The paths of the echo provider with their one method. */
const routes = {
  '/v1/chat/completions': 'POST',
  '/v1/embeddings': 'POST',
  '/v1/models': 'GET',
} as const;

type EchoRoute = keyof typeof routes | 'not_found' | 'method_not_allowed';

export function routeOf(method: string | undefined, target: string | undefined): EchoRoute {
  const path = target?.split('?', 1)[0] ?? '';
  if (!isPath(path)) return 'not_found';
  return routes[path] === method ? path : 'method_not_allowed';
}

function isPath(path: string): path is keyof typeof routes {
  return Object.hasOwn(routes, path);
}
