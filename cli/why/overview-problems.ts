import type { Overview, OverviewModel } from '#contracts/overview';
import { adviceFor } from '#diagnosis/advice';
import { kinds } from '#resources/kinds';
import type { FoundProblem } from './find-problems.ts';

/** The remedy of every reason that belongs to a normal rollout: the overview has no reasons. */
const waitForProgress = adviceFor('Pending', { program: '', binding: '', policy: '' });

/** The problems of the models of a management API: those that `status` over resources finds. Pure. */
export function problemsOfOverview({ models }: Pick<Overview, 'models'>): readonly FoundProblem[] {
  return models.flatMap(problemOfModel);
}

function problemOfModel({ name, isWell, state, summary, whatToDo }: OverviewModel): readonly FoundProblem[] {
  if (isWell || whatToDo === null || state === 'deleting' || whatToDo === waitForProgress) return [];
  return [{ part: `${kinds.modelBinding.kind} ${name}`, reason: state, message: summary, whatToDo }];
}
