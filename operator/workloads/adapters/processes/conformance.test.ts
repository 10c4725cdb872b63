import { describeWorkloads } from '../../testing/workloads-suite.ts';
import { openProcessesPlace } from './testing/open-processes-place.ts';

describeWorkloads('local processes', openProcessesPlace);
