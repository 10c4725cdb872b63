import type { AuditAuthor } from '#contracts/audit';

/** The name of an author, for one cell of a table. */
export function authorText(author: AuditAuthor): string {
  switch (author.kind) {
    case 'token':
      return [author, ...author.actors].map(({ subject }) => subject).join(' via ');
    case 'claimed':
      return `${author.name} (not verified)`;
    case 'service':
      return author.name;
    case 'unknown':
      return 'unknown';
  }
}
