// @ts-check
// Written for very old versions too: it has to be read by them in order to tell them.

const OLDEST = [20, 19];

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])) {
  process.stderr.write(
    `Tenancy Gateway needs Node.js ${OLDEST.join('.')} or newer; this is ${process.versions.node}.\n`,
  );
  process.exit(1);
}
