// @ts-check
// Written for very old versions too: it has to be read by them in order to tell them.

const OLDEST = { major: 20, minor: 19 };

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < OLDEST.major || (major === OLDEST.major && minor < OLDEST.minor)) {
  process.stderr.write(
    `Tenancy Gateway needs Node.js ${OLDEST.major}.${OLDEST.minor} or newer; this is ${process.versions.node}.\n`,
  );
  process.exit(1);
}
