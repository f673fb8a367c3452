// Runs before the commands that need Node 24, on whatever Node is there: this file must run on old versions.
// npm puts node_modules/.bin first in the PATH, and one of the optional dependencies puts a Node 24 into it, whatever the host has.
const needed = 24
const version = process.versions.node

if (Number(version.split('.')[0]) < needed) {
  console.error(
    `This needs Node ${needed}, but "node" is ${version}: install Node ${needed}, or run "npm ci" in a checkout, which installs it.`,
  )
  process.exit(1)
}
