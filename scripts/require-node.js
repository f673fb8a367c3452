// Runs before commands that need Node 24, on whatever Node is installed, so this file must run on old versions. npm puts
// node_modules/.bin first in the PATH, where an optional dependency installs Node 24.
const needed = 24
const version = process.versions.node

if (Number(version.split('.')[0]) < needed) {
  console.error(
    `This needs Node ${needed}, but "node" is ${version}: install Node ${needed}, or run "npm ci" in a checkout, which installs it.`,
  )
  process.exit(1)
}
