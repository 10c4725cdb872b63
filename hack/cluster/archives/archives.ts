/** A zip file in the Maven repository, pinned by its checksum. */
export type Archive = {
  /** The coordinates group:artifact:version:zip, as Maven writes them. */
  readonly coordinates: string;
  /** SHA-256, 64 hexadecimal digits. */
  readonly sha256: string;
  /** Path below the program's folder that its files are unpacked into. */
  readonly into: string;
};

/** A program that is unpacked from archives instead of built. */
export type ArchiveProgram = {
  readonly name: string;
  readonly version: string;
  readonly archives: readonly Archive[];
};

const version = '3.6.0';

/** OpenSearch with its plugin for vectors, without native libraries: only the lucene engine. It needs Java 21. */
export const openSearch: ArchiveProgram = {
  name: 'opensearch',
  version,
  archives: [
    {
      coordinates: `org.opensearch.distribution.integ-test-zip:opensearch:${version}:zip`,
      sha256: 'a91faa1dc1cadc78cb278b4f63847e19e1627a4e9de698e14e7efc14ee37b286',
      into: '.',
    },
    {
      coordinates: `org.opensearch.plugin:opensearch-knn:${version}.0:zip`,
      sha256: 'ac392ca28a39b3bf290648a422ef30cb149dda2963a9d7feb26060e932341c9a',
      into: `opensearch-${version}/plugins/opensearch-knn`,
    },
  ],
};
