import { createCursors } from '#api/pages';
import { pageParameters } from '#api/parameters';
import { docIdSchema } from '#contracts/retrieval';
import { listLimits } from '#contracts/retrieval-documents';

const page = { size: 'limit', bounds: listLimits.page } as const;

export const documentCursors = createCursors('documents/v1', docIdSchema);
export const documentPages = pageParameters({ ...page, cursors: documentCursors });

export const jobCursors = createCursors('jobs/v1');
export const jobPages = pageParameters({ ...page, cursors: jobCursors });
