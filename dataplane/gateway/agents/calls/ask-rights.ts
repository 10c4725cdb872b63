import { AgentRefusal } from './agent-refusal.ts';
import { rightsFault } from './rights-fault.ts';

/** The answer to questions about rights. @throws AgentRefusal authorization_unavailable, unauthenticated */
export async function askRights<Answer>(questions: () => Promise<Answer>): Promise<Answer> {
  try {
    return await questions();
  } catch (error) {
    const fault = rightsFault(error);
    if (fault === undefined) throw error;
    throw new AgentRefusal(fault === 'unavailable' ? 'authorization_unavailable' : 'unauthenticated');
  }
}
