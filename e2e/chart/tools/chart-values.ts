export type TestImage = { readonly repository: string; readonly tag: string };

/** The database image that belongs to a platform image. */
function postgresOf({ repository, tag }: TestImage): TestImage {
  return { repository: `${repository}-postgres`, tag };
}

/** Helm arguments that set both images of a release. */
export function imageValues(image: TestImage): readonly string[] {
  const postgres = postgresOf(image);
  return [
    `--set=image.repository=${image.repository}`,
    `--set=image.tag=${image.tag}`,
    `--set=postgresql.image.repository=${postgres.repository}`,
    `--set=postgresql.image.tag=${postgres.tag}`,
  ];
}
