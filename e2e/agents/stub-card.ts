/** The card of each stub of an agent. */
export const stubCard = { name: 'stub' } as const;
