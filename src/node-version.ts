/** Oldest supported Node.js, as in `engines` of package.json. */
const oldest = { major: 20, minor: 19 };

/**
 * Ends the process with a message if Node.js is too old. Call it before anything else is loaded: an old version fails
 * at the first import that it cannot resolve, with an error that names neither the cause nor a remedy.
 *
 * @param running a version such as `20.19.0`
 */
export function requireNode(running: string = process.versions.node): void {
  const [major = 0, minor = 0] = running.split('.').map(Number);
  if (major > oldest.major || (major === oldest.major && minor >= oldest.minor)) return;
  process.stderr.write(
    `Tenancy Gateway needs Node.js ${oldest.major}.${oldest.minor} or newer; this is ${running}.\n`,
  );
  process.exit(1);
}
