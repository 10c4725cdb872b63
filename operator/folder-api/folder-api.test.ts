import { testResourceServer } from '#kube/testing/resource-suite';
import { makeDataDirectory, openFolder } from './testing/open-folder.ts';

testResourceServer('folder API', async () => {
  const data = await makeDataDirectory();
  const folder = await openFolder(data);
  return {
    client: folder.client,
    async [Symbol.asyncDispose]() {
      await folder[Symbol.asyncDispose]();
      await data[Symbol.asyncDispose]();
    },
  };
});
