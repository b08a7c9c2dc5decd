/** Clients in other languages, as they are in the real world: with their defaults. Each is there or says what is missing. */
import { execFile, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const javaClient = fileURLToPath(new URL('./foreign/Client.java', import.meta.url));

/** Of a test that wants curl with HTTP/2: `false`, or why it is not run. */
export const noCurl =
  !runs('curl', ['--http2', '--version']) && 'NO CURL WITH HTTP/2 ON THIS MACHINE: install curl';
/** Of a test that wants Java: `false`, or why it is not run. */
export const noJava =
  !runs('java', ['--source', '17', '--version']) && 'NO JDK ON THIS MACHINE: install openjdk-17-jdk-headless';

/** Runs curl. @returns what it wrote, and its exit code */
export async function curl(...options: readonly string[]): Promise<{ output: string; code: number }> {
  try {
    const { stdout } = await run('curl', ['--silent', '--show-error', '--max-time', '60', ...options]);
    return { output: stdout, code: 0 };
  } catch (error) {
    const { stdout, code } = error as { stdout: string; code: number };
    return { output: stdout, code };
  }
}

/** Sends requests with Java's HttpClient, one after the other; see the program. @returns a line for each */
export async function java(origin: string, key: string, ...requests: readonly string[]): Promise<string[]> {
  const { stdout } = await run('java', ['--source', '17', javaClient, origin, key, ...requests]);
  return stdout.trimEnd().split('\n');
}

function runs(program: string, options: readonly string[]): boolean {
  return spawnSync(program, options).status === 0;
}
