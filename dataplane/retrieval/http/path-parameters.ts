import { uuidParameter } from '#api/parameters';

export const collectionIdParameter = uuidParameter('collection_id', 'The id of the collection.');
export const jobIdParameter = uuidParameter('job_id', 'The id of the job.');
