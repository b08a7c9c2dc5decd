/** A cluster whose only worker locks a folder and says its process id. Run by folder-lock.test.ts. */
import cluster from 'node:cluster';
import { lockFolder } from '../../../src/adapters/files/folder-lock.ts';

if (cluster.isPrimary) {
  cluster.fork().on('exit', () => console.log('the worker is gone'));
  // Until it is killed.
  setInterval(() => undefined, 60_000);
} else {
  await lockFolder(process.argv[2] ?? '');
  console.log(process.pid);
}
