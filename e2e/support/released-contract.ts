import { readFileSync } from 'node:fs';
import { sha256Hex } from '#contracts/canonical';
import { breakingChanges } from '../../hack/openapi/breaking-changes.ts';

type OpenApi = {
  readonly [member: string]: unknown;
  readonly paths: Record<string, Record<string, Record<string, unknown>>>;
  readonly components: {
    readonly schemas: Record<string, { readonly properties: Record<string, unknown>; readonly required: string[] }>;
  };
};

/** The OpenAPI document of a release, with which later documents of the same version must be compatible. */
export class ReleasedContract {
  readonly document: OpenApi;
  /** SHA-256 of the file, hexadecimal. */
  readonly digest: string;

  constructor(file: URL) {
    const text = readFileSync(file, 'utf8');
    this.document = JSON.parse(text) as OpenApi;
    this.digest = sha256Hex(text);
  }

  /** The properties that a client of the release relies on and that the present document breaks. */
  broken(present: unknown): readonly string[] {
    return breakingChanges(this.document, present as OpenApi);
  }

  /** The findings about a copy of the release that was edited. */
  brokenBy(edit: (copy: OpenApi) => void): readonly string[] {
    const copy = structuredClone(this.document);
    edit(copy);
    return this.broken(copy);
  }
}
