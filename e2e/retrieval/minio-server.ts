import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { unusedPort } from '#kit/testing/loopback';
import { createS3Client, type S3Options } from '../../libraries/objects/adapters/s3/s3-client.ts';
import { findServerProgram, type SpawnedServer, startServerProgram } from '../support/server-program.ts';

export const minioProgram = findServerProgram('minio', 'minio');

export type MinioServer = SpawnedServer & {
  readonly options: S3Options;
  /** Creates a bucket with a new name. */
  createBucket(): Promise<string>;
};

const accessKey = 'portcullis';
const secretKey = 'hunter2hunter2';
let buckets = 0;

/** A real MinIO server on loopback; data and credential files are in the folder, and a second start finds them again. */
export async function startMinio(folder: string, port?: number): Promise<MinioServer> {
  const own = port ?? (await unusedPort());
  const endpoint = new URL(`http://127.0.0.1:${own}`);
  const credentials = { accessKeyFile: join(folder, 'access-key'), secretKeyFile: join(folder, 'secret-key') };
  writeFileSync(credentials.accessKeyFile, `${accessKey}\n`);
  writeFileSync(credentials.secretKeyFile, `${secretKey}\n`);
  const options = { endpoint, credentials, timeoutMs: 10_000 };
  const server = await startServerProgram({
    program: minioProgram,
    args: [
      'server',
      '--quiet',
      `--address=${endpoint.host}`,
      `--console-address=127.0.0.1:${await unusedPort()}`,
      join(folder, 'data'),
    ],
    environment: {
      MINIO_ROOT_USER: accessKey,
      MINIO_ROOT_PASSWORD: secretKey,
      MINIO_BROWSER: 'off',
      MINIO_UPDATE: 'off',
      HOME: folder,
    },
    // The health page answers before the storage does.
    async serves() {
      using client = await createS3Client(options);
      return (await (await client.current()).listBuckets()).length >= 0;
    },
  });
  return {
    ...server,
    options,
    async createBucket() {
      buckets += 1;
      const name = `bucket-${buckets}`;
      using client = await createS3Client(options);
      await (await client.current()).makeBucket(name);
      return name;
    },
  };
}
